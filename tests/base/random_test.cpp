#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/random.h>

namespace thalweg {
namespace {

TEST(Random, ManualSeedStartsTheSequenceAnew) {
  manual_seed(11);
  EXPECT_EQ(reserve_random(5), (RandomState{.seed = 11, .offset = 0}));
  EXPECT_EQ(reserve_random(1), (RandomState{.seed = 11, .offset = 5}));
  manual_seed(12);
  EXPECT_EQ(reserve_random(1), (RandomState{.seed = 12, .offset = 0}));
}

TEST(Random, ARestoredStateGoesOnWhereItWasTaken) {
  manual_seed(3);
  reserve_random(7);
  const RandomState saved = default_random_state();
  const RandomState next = reserve_random(2);
  manual_seed(99);
  set_default_random_state(saved);
  EXPECT_EQ(reserve_random(2), next);
}

TEST(Random, ThreadsNeverGetTheSameBlocks) {
  constexpr int kThreads = 4;
  constexpr int kDraws = 2000;
  manual_seed(1);
  std::vector<uint64_t> offsets(kThreads * kDraws);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&offsets, t] {
      for (int i = 0; i < kDraws; ++i) offsets[t * kDraws + i] = reserve_random(3).offset;
    });
  for (std::thread& thread : threads) thread.join();
  std::sort(offsets.begin(), offsets.end());
  for (size_t i = 0; i < offsets.size(); ++i) ASSERT_EQ(offsets[i], 3 * i);
}

}  // namespace
}  // namespace thalweg
