// A file of ten times the limit, read by one thread and by four: what the process holds.

#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/file.h>
#include <thalweg/data/ctf.h>
#include <thalweg/data/minibatch_source.h>

#include "base/temp_dir.h"

namespace thalweg::data {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// "VmRSS" now, or "VmHWM" at most, in bytes.
size_t resident(const std::string& what) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.rfind(what + ":", 0) == 0) return std::stoul(line.substr(what.size() + 1)) << 10;
  return 0;
}

void write_big(const std::string& path, size_t bytes) {
  std::string block;
  uint32_t random = 1;
  for (int row = 0; row < 500; ++row) {
    block += "|F";
    for (int i = 0; i < 784; ++i) {
      random = random * 1664525 + 1013904223;
      block += random >> 31 ? " 0" : " " + std::to_string(random >> 23 & 255);
    }
    block += " |L " + std::to_string(row % 10) + "\n";
  }
  std::ofstream file(path);
  for (size_t written = 0; written < bytes; written += block.size()) file << block;
}

TEST(SourceMemory, StaysWithinTheLimitForAFileOfTenTimesTheLimit) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers hold memory of their own";
  constexpr size_t kLimit = size_t{24} << 20;
  const TempDir folder;
  const std::string path = folder.path() + "/big.ctf";
  write_big(path, 10 * kLimit);
  for (bool randomize : {false, true}) {
    for (int workers : {1, 4}) {
      std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts anew
      const size_t rest = resident("VmRSS");
      MinibatchSource source(
          {CTFDeserializer(path, {{.name = "f", .field = "F", .dim = 784},
                                  {.name = "l", .field = "L", .dim = 1}})},
          {.randomize = randomize, .memory_limit = kLimit, .seed = 1, .workers = workers});
      int64_t samples = 0;
      while (auto mb = source.next_minibatch(128)) samples += mb.num_samples;
      EXPECT_EQ(samples % 500, 0);
      EXPECT_GT(samples, 50000);
      EXPECT_LE(resident("VmHWM"), rest + kLimit + kLimit / 20)
          << workers << " threads, " << (randomize ? "mixed" : "in order");
    }
  }
}

}  // namespace
}  // namespace thalweg::data
