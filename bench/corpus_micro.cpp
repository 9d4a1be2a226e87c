// Whole files through their deserializers, in the page cache: CTF on one and two threads and as
// minibatches, CBF against copying its bytes, and how long a first minibatch takes. corpus_micro
// [FOLDER [GB]]

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/file.h>
#include <thalweg/base/philox.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/cbf.h>
#include <thalweg/data/ctf.h>
#include <thalweg/data/format.h>
#include <thalweg/data/minibatch_source.h>

#include "stopwatch.h"

namespace {

namespace fs = std::filesystem;
using namespace thalweg;
using namespace thalweg::data;

double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Kind {
  const char* name;
  std::vector<CtfStream> streams;
  std::string (*value)(Philox& random);  // of a dense stream
};

const std::vector<CtfStream> kStreams = {{.name = "F", .dim = 784},
                                         {.name = "L", .dim = 10, .sparse = true}};
const std::vector<CtfStream> kWords = {{.name = "W", .dim = 30000, .sparse = true}};

std::string drawn_pixel(Philox& random) {
  return random.bounded(5) > 0 ? " 0" : fmt::format(" {}", random.bounded(256));
}
std::string pixel(Philox& random) { return fmt::format(" {}", random.bounded(256)); }
std::string decimal(Philox& random) { return fmt::format(" 0.{:06}", random.bounded(1000000)); }

const Kind kDrawn = {"drawn pixels", kStreams, drawn_pixel};
const Kind kKinds[] = {{"pixels", kStreams, pixel},
                       kDrawn,
                       {"decimals", kStreams, decimal},
                       {"words", kWords, nullptr}};

std::string words(Philox& random) {
  std::string row = "|W";
  uint32_t index = 0;
  for (int i = 0; i < 30; ++i)
    row += fmt::format(" {}:{}", index += 1 + random.bounded(900), 1 + random.bounded(9));
  return row + "\n";
}

std::string pixels(const Kind& kind, Philox& random) {
  std::string row = "|F";
  for (int v = 0; v < 784; ++v) row += kind.value(random);
  return row + fmt::format(" |L {}:1\n", random.bounded(10));
}

void write_ctf(const std::string& path, uint64_t bytes, const Kind& kind) {
  AtomicFile file(path);
  Philox random(1);
  std::string block;
  for (int i = 0; i < 500; ++i) block += kind.value ? pixels(kind, random) : words(random);
  while (file.offset() < bytes) file.write(block);
  file.commit();
}

// Chunks go to whichever thread is free. Returns the seconds on processors, of all threads.
double load_all(const Deserializer& corpus, int threads) {
  std::atomic<int64_t> next = 0;
  std::atomic<double> busy_ns = 0;
  const auto work = [&] {
    const double begin = bench::now_ns();
    for (int64_t i = next++; i < corpus.chunks(); i = next++) corpus.load(i);
    busy_ns += bench::now_ns() - begin;
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return busy_ns / 1e9;
}

// All minibatches of a pass, made by the thread that asks for them.
void read_all(const std::string& path, const Kind& kind) {
  MinibatchSource source({CTFDeserializer(path, kind.streams)}, {.max_sweeps = 1, .workers = 0});
  while (source.next_minibatch(128)) {
  }
}

// On a busy machine the time on processors tells more than the clock.
void time_ctf(const std::string& path, const Kind& kind) {
  write_ctf(path, 100 << 20, kind);
  const CTFDeserializer corpus(path, kind.streams, {.chunk_bytes = 1 << 20});
  corpus.chunks();
  const double bytes = static_cast<double>(fs::file_size(path));
  double one = 1e9, two = 1e9, one_clock = 1e9, two_clock = 1e9, source = 1e9;
  for (int i = 0; i < 7; ++i) {
    one_clock = std::min(one_clock, seconds_of([&] { one = std::min(one, load_all(corpus, 1)); }));
    two_clock = std::min(two_clock, seconds_of([&] { two = std::min(two, load_all(corpus, 2)); }));
    const double begin = bench::now_ns();
    read_all(path, kind);
    source = std::min(source, (bench::now_ns() - begin) / 1e9);
  }
  fmt::print(
      "ctf {:<13} {:6.0f} MB/s processor, {:6.0f} clock; 2 threads {:.2f} x and {:.2f} x; as "
      "minibatches, shuffled, {:6.0f}\n",
      kind.name, bytes / one / 1e6, bytes / one_clock / 1e6, 2 * one / two, one_clock / two_clock,
      bytes / source / 1e6);
}

void time_cbf(const std::string& text, const std::string& path) {
  const CTFDeserializer corpus(text, kStreams);
  const auto writer = find_format(path).create(path, {.streams = corpus.streams()});
  uint64_t number = 0;
  for (int64_t c = 0; c < corpus.chunks(); ++c) {
    const auto chunk = corpus.load(c);
    for (int64_t s = 0; s < corpus.chunk(c).sequences; ++s) {
      const StreamValues values[] = {chunk->read(s, 0, {}), chunk->read(s, 1, {})};
      writer->write(number++, values);
    }
  }
  writer->commit();
  const CBFDeserializer binary(path);
  const double bytes = static_cast<double>(fs::file_size(path));
  const File file(path);
  constexpr size_t kPiece = 1 << 20;
  const auto copy = [&] {
    for (uint64_t at = 0; at < file.size(); at += kPiece) {
      const size_t n = std::min<uint64_t>(kPiece, file.size() - at);
      const auto piece = std::make_unique_for_overwrite<std::byte[]>(n);
      file.read_at(at, {piece.get(), n});
    }
  };
  double copied = 1e9, loaded = 1e9;
  for (int i = 0; i < 7; ++i) {
    copied = std::min(copied, seconds_of(copy));
    loaded = std::min(loaded, seconds_of([&] { load_all(binary, 1); }));
  }
  fmt::print("cbf, file              {:8.0f} MB/s; copying its bytes {:.0f} ({:.0f} %)\n",
             bytes / loaded / 1e6, bytes / copied / 1e6, 100 * copied / loaded);
}

void time_first(const std::string& path, const char* what) {
  const double seconds = seconds_of([&] {
    MinibatchSource source({CTFDeserializer(path, kStreams)}, {.randomize = false});
    source.next_minibatch(64);
  });
  fmt::print("first minibatch, {:<6}{:8.1f} ms\n", what, seconds * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder =
      fs::path(argc > 1 ? argv[1] : fs::temp_directory_path().string()) / "thalweg-corpus-micro";
  const double gigabytes = argc > 2 ? std::atof(argv[2]) : 1;
  fs::create_directories(folder);
  const std::string small = folder / "small.ctf";
  const std::string large = folder / "large.ctf";
  for (const Kind& kind : kKinds) time_ctf(folder / fmt::format("{}.ctf", kind.name), kind);
  write_ctf(small, 100 << 20, kDrawn);
  time_cbf(small, folder / "small.cbf");
  write_ctf(large, static_cast<uint64_t>(gigabytes * 1e9), kDrawn);
  time_first(large, "none");
  CTFDeserializer(large, kStreams).chunks();
  time_first(large, "index");
  fs::remove_all(folder);
}
