#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/threads.h>
#include <thalweg/nn/init.h>
#include <thalweg/ops/linear.h>

#include "base/expect_error.h"

namespace thalweg::init {
namespace {

using testing::HasSubstr;

std::vector<double> filled(const Initializer& init, const Shape& shape, uint64_t seed = 1) {
  const Tensor out = Tensor::empty(shape, {.dtype = DType::f64});
  init(out, seed);
  return out.to_vector<double>();
}

double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double sigma_of(const std::vector<double>& v) {
  const double mean = mean_of(v);
  double squares = 0;
  for (double x : v) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(v.size()));
}

double largest(const std::vector<double>& v) {
  double most = 0;
  for (double x : v) most = std::max(most, std::abs(x));
  return most;
}

// Gluon's Xavier: sqrt(3 / ((64 + 784) / 2)); uniform numbers have sigma = limit / sqrt(3).
TEST(Xavier, IsUniformWithGlorotsLimit) {
  const auto values = filled(xavier(), {64, 784});
  EXPECT_LE(largest(values), 0.08411582);
  EXPECT_GT(largest(values), 0.084);
  EXPECT_NEAR(sigma_of(values), 0.0485643, 3e-4);
  EXPECT_NEAR(mean_of(values), 0, 1e-3);
}

// sqrt(2 / (16 * 3 * 3)) = 0.117851
TEST(Xavier, CountsTheKernelInItsFans) {
  const auto values =
      filled(xavier({.distribution = Distribution::normal, .fan = Fan::in, .magnitude = 2}),
             {64, 16, 3, 3});
  EXPECT_NEAR(sigma_of(values), 0.117851, 3e-3);
}

TEST(Xavier, RefusesAVector) {
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { filled(xavier(), {4}); }),
              HasSubstr("xavier: parameter of shape [4] has less than two dimensions"));
}

// sqrt(2 / 400) = 0.0707107; Gluon's MSRAPrelu: sqrt(2 / ((1 + 0.25^2) * 300)) = 0.0792118
TEST(Msra, HasTheVarianceForRectifiers) {
  EXPECT_NEAR(sigma_of(filled(msra(), {200, 400})), 0.0707107, 5e-4);
  EXPECT_NEAR(sigma_of(filled(msra({.fan = Fan::avg, .slope = 0.25}), {200, 400})), 0.0792118,
              6e-4);
  const auto even = filled(msra({.distribution = Distribution::uniform}), {200, 400});
  EXPECT_NEAR(sigma_of(even), 0.0707107, 5e-4);
  EXPECT_LE(largest(even), 0.1224745);
}

// The standard deviation of a standard normal cut at 2 is 0.8796257.
TEST(TruncatedNormal, StaysWithinItsLimit) {
  const auto values = filled(truncated_normal(0.5, 0, 2), {100, 400});
  EXPECT_LE(largest(values), 1.0);
  EXPECT_GT(largest(values), 0.99);
  EXPECT_NEAR(sigma_of(values), 0.4398128, 4e-3);
}

TEST(Normal, HasItsMeanAndSigma) {
  const auto values = filled(normal(2, 5), {100, 400});
  EXPECT_NEAR(mean_of(values), 5, 0.04);
  EXPECT_NEAR(sigma_of(values), 2, 0.03);
}

TEST(Uniform, StaysBetweenItsBounds) {
  for (double x : filled(uniform(-1, 3), {1000})) {
    EXPECT_GE(x, -1);
    EXPECT_LT(x, 3);
  }
  EXPECT_THROW(uniform(1, 0), Error);
}

TEST(Orthogonal, MakesOrthonormalRowsOrColumns) {
  for (const Shape& shape : {Shape{5, 12}, Shape{12, 5}, Shape{6, 2, 3}}) {
    const Tensor w = Tensor::empty(shape, {.dtype = DType::f64});
    orthogonal(2)(w, 3);
    const Tensor m = w.reshape({shape[0], -1});
    const Tensor product =
        m.size(0) <= m.size(1) ? matmul(m, m.transpose()) : matmul(m.transpose(), m);
    const int64_t n = product.size(0);
    const auto values = product.to_vector<double>();
    for (int64_t i = 0; i < n * n; ++i) {
      EXPECT_NEAR(values[static_cast<size_t>(i)], i / n == i % n ? 4 : 0, 1e-12);
    }
  }
}

// Long et al. 2015: a kernel of 4 doubles a size, one of 3 too but from the middle of pixels.
TEST(Bilinear, InterpolatesLinearly) {
  const std::vector<double> row = {0.25, 0.75, 0.75, 0.25};
  std::vector<double> expected;
  for (double a : row) {
    for (double b : row) expected.push_back(a * b);
  }
  EXPECT_EQ(filled(bilinear(), {1, 1, 4, 4}), expected);
  EXPECT_EQ(filled(bilinear(), {1, 1, 1, 3}), (std::vector<double>{0.5, 1, 0.5}));
  EXPECT_THROW(filled(bilinear(), {4, 4}), Error);
}

TEST(Initializers, GiveTheSameNumbersForAnyNumberOfThreads) {
  const int threads = num_threads();
  for (const Initializer& init : {uniform(1), normal(1), truncated_normal(1)}) {
    set_num_threads(1);
    const auto one = filled(init, {300, 301});
    set_num_threads(4);
    EXPECT_EQ(one, filled(init, {300, 301})) << init.text();
  }
  set_num_threads(threads);
}

TEST(Initializers, GiveF32TheRoundedNumbersOfF64) {
  const Tensor f = Tensor::empty({50, 3});
  normal(1)(f, 9);
  const auto d = filled(normal(1), {50, 3}, 9);
  const auto values = f.to_vector<float>();
  for (size_t i = 0; i < d.size(); ++i) EXPECT_EQ(values[i], static_cast<float>(d[i]));
}

TEST(Initializers, RefuseRandomIntegers) {
  const Tensor out = Tensor::empty({3}, {.dtype = DType::i64});
  EXPECT_THROW(normal(1)(out, 0), Error);
}

}  // namespace
}  // namespace thalweg::init
