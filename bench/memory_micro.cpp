// What a process holds while it reads files of ten times the memory limit of 64 MiB, shuffled, with
// one worker and with four, each in a process of its own. memory_micro [FOLDER [MiB]]

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thalweg/base/file.h>
#include <thalweg/base/philox.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/cbf.h>
#include <thalweg/data/ctf.h>
#include <thalweg/data/format.h>
#include <thalweg/data/minibatch_source.h>

namespace {

namespace fs = std::filesystem;
using namespace thalweg;
using namespace thalweg::data;

const std::vector<CtfStream> kStreams = {{.name = "F", .dim = 784},
                                         {.name = "L", .dim = 10, .sparse = true}};

// "VmRSS": now; "VmHWM": at most.
double resident_mib(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ":")) return std::stod(line.substr(what.size() + 1)) / 1024;
  return 0;
}

void write_ctf(const std::string& path, uint64_t bytes) {
  AtomicFile file(path);
  Philox random(1);
  std::string block;
  for (int row = 0; row < 500; ++row) {
    block += "|F";
    for (int v = 0; v < 784; ++v) block += fmt::format(" {}", random.bounded(256));
    block += fmt::format(" |L {}:1\n", random.bounded(10));
  }
  while (file.offset() < bytes) file.write(block);
  file.commit();
}

// The same samples again and again, until the file is large enough.
void write_as(const std::string& path, const Deserializer& corpus, uint64_t bytes) {
  const auto writer = find_format(path).create(path, {.streams = corpus.streams()});
  const uint64_t wanted = bytes / (785 * sizeof(float));
  for (uint64_t number = 0; number < wanted;) {
    const auto chunk = corpus.load(0);
    for (int64_t s = 0; s < corpus.chunk(0).sequences && number < wanted; ++s) {
      const StreamValues values[] = {chunk->read(s, 0, {}), chunk->read(s, 1, {})};
      writer->write(number++, values);
    }
  }
  writer->commit();
}

template <typename Open>
void measure(const char* what, const std::string& path, Open open) {
  constexpr size_t kLimit = size_t{64} << 20;
  for (const int workers : {1, 4}) {
    std::fflush(stdout);
    if (const pid_t child = fork(); child != 0) {
      waitpid(child, nullptr, 0);
      continue;
    }
    const double rest = resident_mib("VmRSS");
    int64_t samples = 0;
    {
      MinibatchSource source(
          {open(path)}, {.memory_limit = kLimit, .seed = 1, .max_sweeps = 1, .workers = workers});
      while (auto minibatch = source.next_minibatch(128)) samples += minibatch.num_samples;
    }
    const double held = resident_mib("VmHWM") - rest;
    fmt::print(
        "{:<4} {:5} MiB, {} workers: {} samples; {:.1f} MiB beyond {:.1f} at rest, {:.0f} % "
        "of the limit\n",
        what, fs::file_size(path) >> 20, workers, samples, held, rest,
        100 * held / static_cast<double>(kLimit >> 20));
    std::fflush(stdout);
    _exit(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder =
      fs::path(argc > 1 ? argv[1] : fs::temp_directory_path().string()) / "thalweg-memory-micro";
  const uint64_t bytes = uint64_t{argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 640} << 20;
  fs::create_directories(folder);
  const std::string ctf = folder / "large.ctf", cbf = folder / "large.cbf";
  const std::string part = folder / "part.ctf";
  if (const pid_t child = fork(); child != 0) {
    waitpid(child, nullptr, 0);
  } else {  // what writing leaves in the process is not at rest
    write_ctf(ctf, bytes);
    write_ctf(part, 8 << 20);
    write_as(cbf, CTFDeserializer(part, kStreams), bytes);
    _exit(0);
  }
  measure("ctf", ctf, [](const std::string& path) { return CTFDeserializer(path, kStreams); });
  measure("cbf", cbf, [](const std::string& path) { return CBFDeserializer(path); });
  fs::remove_all(folder);
}
