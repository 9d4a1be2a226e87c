#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/philox.h>

namespace thalweg {
namespace {

// From kat_vectors of the Random123 distribution.
TEST(Philox, GivesTheAnswersOfRandom123) {
  EXPECT_EQ(philox4x32({{0, 0, 0, 0}}, {{0, 0}}),
            (PhiloxBlock{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({{kOnes, kOnes, kOnes, kOnes}}, {{kOnes, kOnes}}),
            (PhiloxBlock{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  EXPECT_EQ(
      philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}),
      (PhiloxBlock{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST(Philox, IsKnownAtCompileTime) {
  static_assert(philox4x32({{0, 0, 0, 0}}, {{0, 0}})[0] == 0x6627e8d5);
}

TEST(Philox, PutsIndexAndStreamIntoTheCounterAndTheSeedIntoTheKey) {
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (PhiloxBlock{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST(Philox, DerivedSeedsDifferByIndexStreamAndSeedAndFromTheDraws) {
  std::vector<uint64_t> seeds;
  for (uint64_t seed : {0, 1})
    for (uint64_t stream : {0, 1})
      for (uint64_t index = 0; index < 100; ++index) {
        seeds.push_back(derive_seed(seed, index, stream));
        const PhiloxBlock draw = philox(seed, index, stream);
        seeds.push_back(uint64_t{draw[1]} << 32 | draw[0]);
      }
  std::sort(seeds.begin(), seeds.end());
  EXPECT_EQ(std::adjacent_find(seeds.begin(), seeds.end()), seeds.end());
}

TEST(Philox, UniformStaysBelowOneAndStartsAtZero) {
  EXPECT_EQ(uniform_float(0), 0.0f);
  EXPECT_EQ(uniform_float(0xffffffff), 1.0f - 0x1p-24f);
  EXPECT_EQ(uniform_float(0x80000000), 0.5f);
  EXPECT_EQ(uniform_double(0), 0.0);
  EXPECT_EQ(uniform_double(~uint64_t{0}), 1.0 - 0x1p-53);
}

TEST(Philox, BoundedCoversEveryValueAndNoOther) {
  EXPECT_EQ(bounded(0, 10), 0u);
  EXPECT_EQ(bounded(0xffffffff, 10), 9u);
  EXPECT_EQ(bounded(0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(bounded(0xffffffff, 1), 0u);
}

TEST(Philox, NormalIsFiniteAtTheEndsOfItsInput) {
  for (uint32_t a : {0u, 1u, 0x80000000u, 0xffffffffu})
    for (uint32_t b : {0u, 0x80000000u, 0xffffffffu}) {
      EXPECT_LT(std::abs(normal_pair(a, b).first), 6.8f);
      EXPECT_LT(std::abs(normal_pair(a, b).second), 6.8f);
    }
  for (uint64_t a : {uint64_t{0}, ~uint64_t{0}}) {
    EXPECT_LT(std::abs(normal_pair(a, a).first), 8.7);
    EXPECT_LT(std::abs(normal_pair(a, a).second), 8.7);
  }
}

// Bounds are five standard errors of the moments of N(0, 1): 1, 2, 15 - 0, 96 over the sample size.
TEST(Philox, NormalHasTheMomentsOfTheNormalDistribution) {
  constexpr int kPairs = 200000;
  double sum[5] = {};
  double product = 0;
  Philox random(7);
  for (int i = 0; i < kPairs; ++i) {
    const uint32_t a = random.next();
    const auto [x, y] = normal_pair(a, random.next());
    product += double{x} * y;
    for (double v : {double{x}, double{y}}) {
      for (int power = 1; power <= 4; ++power) sum[power] += std::pow(v, power);
    }
  }
  const double n = 2.0 * kPairs;
  EXPECT_NEAR(sum[1] / n, 0, 5 * std::sqrt(1 / n));
  EXPECT_NEAR(sum[2] / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(sum[3] / n, 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(sum[4] / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(product / kPairs, 0, 5 * std::sqrt(1.0 / kPairs));
}

TEST(Philox, SequentialDrawsAreTheWordsOfTheBlocksInOrder) {
  Philox random(3, 4);
  for (uint64_t index = 0; index < 3; ++index)
    for (int word = 0; word < 4; ++word) EXPECT_EQ(random.next(), philox(3, index, 4)[word]);
}

TEST(Philox, SequentialBoundedHasNoBias) {
  // 3 * 2^30 values: plain multiplication would hit every third value twice as often.
  constexpr uint32_t kRange = 3u << 30;
  Philox random(5);
  int counts[3] = {};
  for (int i = 0; i < 30000; ++i) ++counts[random.bounded(kRange) % 3];
  for (int count : counts) EXPECT_NEAR(count, 10000, 5 * std::sqrt(30000 * 2.0 / 9));
}

}  // namespace
}  // namespace thalweg
