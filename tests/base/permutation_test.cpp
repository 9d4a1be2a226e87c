#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/permutation.h>

namespace thalweg {
namespace {

std::vector<uint64_t> all_of(const Permutation& permutation) {
  std::vector<uint64_t> items(permutation.size());
  for (uint64_t i = 0; i < items.size(); ++i) items[i] = permutation(i);
  return items;
}

// A chi-squared value over `cells` cells lies within five standard deviations of its mean.
void expect_uniform(double chi_squared, int cells) {
  const double freedom = cells - 1;
  EXPECT_NEAR(chi_squared, freedom, 5 * std::sqrt(2 * freedom));
}

TEST(Permutation, VisitsEveryItemOnce) {
  for (uint64_t n : {1, 2, 3, 5, 31, 32, 33, 1000, 1024, 60000}) {
    std::vector<uint64_t> items = all_of(Permutation(n, 42));
    std::sort(items.begin(), items.end());
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(items[i], i) << "n " << n;
  }
}

TEST(Permutation, StaysInsideForTheLargestSizes) {
  for (uint64_t n : {uint64_t{1} << 62, (uint64_t{1} << 61) + 1, (uint64_t{1} << 32) + 1})
    for (uint64_t i : {uint64_t{0}, uint64_t{1}, n / 2, n - 1}) EXPECT_LT(permute(i, n, 9), n);
}

TEST(Permutation, IsTheSameForTheSameKeyOnly) {
  EXPECT_EQ(all_of(Permutation(1000, 1)), all_of(Permutation(1000, 1)));
  EXPECT_NE(all_of(Permutation(1000, 1)), all_of(Permutation(1000, 2)));
  EXPECT_EQ(permute(17, 1000, 1), Permutation(1000, 1)(17));
}

TEST(Permutation, GivesAllOrdersOfFiveItemsEquallyOften) {
  constexpr int kKeys = 60000;
  std::map<std::vector<uint64_t>, int> counts;
  for (uint64_t key = 0; key < kKeys; ++key) ++counts[all_of(Permutation(5, key))];
  EXPECT_EQ(counts.size(), 120u);
  const double expected = kKeys / 120.0;
  double chi_squared = 0;
  for (const auto& [order, count] : counts) chi_squared += std::pow(count - expected, 2) / expected;
  expect_uniform(chi_squared, 120);
}

// Pairs (item at 0, item at 1) for sizes at and beside a power of two.
TEST(Permutation, PutsEveryPairOfItemsFirstEquallyOften) {
  constexpr int kKeys = 100000;
  for (uint64_t n : {16, 32, 33, 40}) {
    std::vector<int> counts(n * n);
    for (uint64_t key = 0; key < kKeys; ++key) {
      const Permutation permutation(n, derive_seed(1, key));
      ++counts[permutation(0) * n + permutation(1)];
    }
    const int cells = static_cast<int>(n * (n - 1));
    const double expected = double{kKeys} / cells;
    double chi_squared = 0;
    for (uint64_t i = 0; i < n * n; ++i)
      if (i / n != i % n) chi_squared += std::pow(counts[i] - expected, 2) / expected;
    expect_uniform(chi_squared, cells);
  }
}

TEST(Permutation, LeavesNoTraceOfTheOriginalOrder) {
  const std::vector<uint64_t> items = all_of(Permutation(60000, 3));
  const double n = 60000;
  // Rank correlation of neighbours and with the position: standard error about 1 / sqrt(n).
  double with_position = 0;
  double with_next = 0;
  for (size_t i = 0; i + 1 < items.size(); ++i) {
    const double x = (static_cast<double>(items[i]) - n / 2) / n;
    with_position += x * (static_cast<double>(i) - n / 2) / n;
    with_next += x * (static_cast<double>(items[i + 1]) - n / 2) / n;
  }
  EXPECT_NEAR(12 * with_position / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(12 * with_next / n, 0, 5 / std::sqrt(n));
}

}  // namespace
}  // namespace thalweg
