#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thalweg/base/error.h>
#include <thalweg/base/threads.h>

#include "base/cpus.h"

namespace thalweg {
namespace {

constexpr double kMuch = 1e6;  // an estimate that makes any loop worth all threads

class Threads : public testing::Test {
 protected:
  ~Threads() override { set_num_threads(before_); }
  const int before_ = num_threads();
};

TEST_F(Threads, RunsEveryTileOnce) {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(n));
      parallel_tiles(n, kMuch, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
      for (const auto& count : runs) ASSERT_EQ(count, 1);
    }
  }
}

TEST_F(Threads, RunsEveryTileOnceWhenTilesAreTakenInChunks) {
  set_num_threads(2);
  std::vector<std::atomic<int>> runs(100001);
  parallel_tiles(100001, 1.0, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
  for (const auto& count : runs) ASSERT_EQ(count, 1);
}

TEST_F(Threads, RangesCoverAllItemsAndMeetAtMultiplesOfTheGrain) {
  set_num_threads(3);
  for (int64_t n : {0, 1, 9, 10, 11, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<size_t>(n));
    parallel_ranges(n, 10, kMuch, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(begin % 10, 0);
      EXPECT_EQ(end, std::min<int64_t>(begin + 10, n));
      for (int64_t i = begin; i < end; ++i) ++runs[static_cast<size_t>(i)];
    });
    for (const auto& count : runs) ASSERT_EQ(count, 1);
  }
}

TEST_F(Threads, AnyThreadCountGivesTheSameBits) {
  const auto sum_of_sines = [] {
    std::vector<float> partial(101);
    parallel_ranges(100500, 1000, 10.0, [&](int64_t begin, int64_t end) {
      float sum = 0;
      for (int64_t i = begin; i < end; ++i) sum += std::sin(static_cast<float>(i));
      partial[static_cast<size_t>(begin / 1000)] = sum;
    });
    float sum = 0;
    for (float p : partial) sum += p;
    return sum;
  };
  set_num_threads(1);
  const float expected = sum_of_sines();
  for (int threads : {2, 3, 7}) {
    set_num_threads(threads);
    for (int repeat = 0; repeat < 20; ++repeat) ASSERT_EQ(sum_of_sines(), expected);
  }
}

TEST_F(Threads, MuchWorkIsDoneBySeveralThreads) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "needs a second CPU";
  set_num_threads(2);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  for (int attempt = 0; attempt < 1000 && ids.size() < 2; ++attempt)
    parallel_tiles(4, kMuch, [&](int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
  EXPECT_EQ(ids.size(), 2u);
}

void expect_in_order_in_this_thread(int64_t n, double tile_ns) {
  int64_t next = 0;
  const auto self = std::this_thread::get_id();
  parallel_tiles(n, tile_ns, [&](int64_t i) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(i, next++);
  });
  EXPECT_EQ(next, n);
}

TEST_F(Threads, LittleWorkStaysInTheCallingThreadInOrder) {
  set_num_threads(4);
  expect_in_order_in_this_thread(100, 10.0);
}

TEST_F(Threads, LoopsInsideLoopsAndSerialScopesStayInTheirThread) {
  set_num_threads(4);
  parallel_tiles(8, kMuch, [](int64_t) { expect_in_order_in_this_thread(8, kMuch); });
  SerialScope serial;
  expect_in_order_in_this_thread(8, kMuch);
  { SerialScope inner; }
  expect_in_order_in_this_thread(8, kMuch);
}

TEST_F(Threads, LoopsOfSeveralThreadsAtOnceAllFinish) {
  set_num_threads(2);
  std::atomic<int> runs{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat)
        parallel_tiles(5, kMuch, [&](int64_t) { ++runs; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs, 4 * 200 * 5);
}

TEST_F(Threads, TheFirstTileThatThrowsDecidesTheException) {
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        parallel_tiles(64, kMuch, [](int64_t i) {
          if (i % 10 == 3) throw std::runtime_error("tile " + std::to_string(i));
        });
        FAIL() << "nothing thrown";
      } catch (const std::runtime_error& error) {
        ASSERT_STREQ(error.what(), "tile 3");
      }
    }
    std::atomic<int> runs{0};
    parallel_tiles(10, kMuch, [&](int64_t) { ++runs; });
    EXPECT_EQ(runs, 10);
  }
}

TEST_F(Threads, RefusesThreadCountsOutOfRangeAndChangesInsideLoops) {
  EXPECT_THROW(set_num_threads(0), Error);
  EXPECT_THROW(set_num_threads(-1), Error);
  EXPECT_THROW(set_num_threads(1 << 20), Error);
  set_num_threads(2);
  EXPECT_THROW(parallel_tiles(2, kMuch, [](int64_t) { set_num_threads(3); }), Error);
  EXPECT_EQ(num_threads(), 2);
}

// The child has no workers; the caller never waits for one that has not begun a tile.
TEST_F(Threads, AForkedChildStillRunsLoops) {
  set_num_threads(2);
  parallel_tiles(4, kMuch, [](int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> runs{0};
    parallel_tiles(100, kMuch, [&](int64_t) { ++runs; });
    _exit(runs == 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace thalweg
