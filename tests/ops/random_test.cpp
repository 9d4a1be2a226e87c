#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/philox.h>
#include <thalweg/base/threads.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

class Random : public ::testing::Test {
 protected:
  void SetUp() override { manual_seed(11); }
};

double mean_of(const Tensor& x) { return mean(x.to(DType::f64)).item<double>(); }
double deviation_of(const Tensor& x) {
  return std::sqrt(mean_of(square(x.to(DType::f64) - mean_of(x))));
}

TEST_F(Random, UniformNumbersAreTheWordsOfTheSeedsSequence) {
  const Tensor x = random_uniform({6});
  for (int i = 0; i < 6; ++i) {
    const float expected = uniform_float(philox(11, static_cast<uint64_t>(i / 4))[i % 4]);
    EXPECT_EQ(x.to_vector<float>()[static_cast<size_t>(i)], expected);
  }
  EXPECT_EQ(default_random_state().offset, 2u);
}

TEST_F(Random, DistributionsHaveTheirMoments) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    SCOPED_TRACE(name(dtype));
    const Tensor u = random_uniform({200, 300}, -1, 3, {dtype});
    EXPECT_NEAR(mean_of(u), 1, 0.02);
    EXPECT_NEAR(deviation_of(u), 4 / std::sqrt(12.0), 0.02);
    const Tensor n = random_normal({60001}, 2, 0.5, {dtype});
    EXPECT_NEAR(mean_of(n), 2, 0.01);
    EXPECT_NEAR(deviation_of(n), 0.5, 0.01);
    EXPECT_NEAR(mean_of(random_bernoulli({60000}, 0.3, {dtype})), 0.3, 0.01);
  }
}

TEST_F(Random, UniformNumbersNeverReachTheUpperEnd) {
  for (DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    const std::vector<double> x =
        random_uniform({100000}, 1, 2, {dtype}).to(DType::f64).to_vector<double>();
    EXPECT_LT(*std::max_element(x.begin(), x.end()), 2);
    EXPECT_GE(*std::min_element(x.begin(), x.end()), 1);
  }
}

TEST_F(Random, IntegersCoverTheirRangeEvenly) {
  const std::vector<int64_t> x = random_integers({70000}, -3, 4).to_vector<int64_t>();
  for (int64_t v = -3; v < 4; ++v) {
    EXPECT_NEAR(static_cast<double>(std::count(x.begin(), x.end(), v)), 10000, 400);
  }
  EXPECT_EQ(random_integers({50}, 0, 256, {DType::u8}).dtype(), DType::u8);
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { random_integers({1}, 0, 257, {DType::u8}); }),
            "random_integers: the range 0 to 256 does not fit in u8");
  EXPECT_THROW(random_integers({1}, 3, 3), Error);
  EXPECT_EQ(random_integers({0}, 0, 0).size(), 0);
}

TEST_F(Random, PermutationsHoldEachNumberOnce) {
  std::vector<int64_t> x = random_permutation(1000).to_vector<int64_t>();
  EXPECT_NE(x, random_permutation(1000).to_vector<int64_t>());
  EXPECT_FALSE(std::is_sorted(x.begin(), x.end()));
  std::sort(x.begin(), x.end());
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(x[static_cast<size_t>(i)], i);
  EXPECT_EQ(random_permutation(0).size(), 0);
}

// apache/mxnet#9335
TEST_F(Random, OneSeedGivesTheSameNumbersForAnyNumberOfThreads) {
  const auto draw = [] {
    manual_seed(3);
    ModeScope training(Mode::training);
    return std::vector<std::vector<float>>{random_uniform({300001}).to_vector<float>(),
                                           random_normal({300001}).to_vector<float>(),
                                           dropout(Tensor::ones({300001})).to_vector<float>()};
  };
  const int threads = num_threads();
  set_num_threads(1);
  const auto serial = draw();
  set_num_threads(3);
  const auto parallel = draw();
  set_num_threads(threads);
  EXPECT_EQ(serial, parallel);
}

TEST_F(Random, DropoutScalesWhatItKeepsAndGivesTheSameMaskToTheGradient) {
  const Tensor x = Tensor::ones({100, 100}).attach_grad();
  Tensor y;
  {
    Record record;
    y = dropout(x, 0.2);
  }
  const std::vector<float> values = y.to_vector<float>();
  EXPECT_TRUE(
      std::all_of(values.begin(), values.end(), [](float v) { return v == 0 || v == 1 / 0.8f; }));
  EXPECT_NEAR(mean_of(y), 1, 0.02);
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), values);
}

TEST_F(Random, DropoutGivesTheInputItselfInPrediction) {
  const Tensor x = Tensor::ones({4});
  EXPECT_EQ(dropout(x, 0.5).impl(), x.impl());
  Record record(Mode::prediction);
  EXPECT_EQ(dropout(x, 0.5).impl(), x.impl());
}

TEST_F(Random, DropoutLooksAtElementsNotAtStrides) {
  ModeScope training(Mode::training);
  const Tensor x = Tensor::ones({3, 4, 5});
  const Tensor strided = transpose(contiguous(transpose(x)));
  const Tensor a = dropout(x);
  manual_seed(11);
  const Tensor b = dropout(strided);
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
  EXPECT_NE(a.to_vector<float>(), dropout(x).to_vector<float>());
}

TEST_F(Random, DropoutOfEverythingGivesZerosAlsoForInfinity) {
  ModeScope training(Mode::training);
  const Tensor y = dropout(Tensor::full({3}, INFINITY), 1);
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(3, 0));
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { dropout(Tensor::ones({1}), 1.5); }),
            "dropout: probability 1.5 is outside 0 to 1");
}

TEST_F(Random, BernoulliTakesAProbabilityForEachElement) {
  const Tensor p = Tensor::of({0.f, 1.f, 0.f, 1.f});
  EXPECT_EQ(random_bernoulli(p).to_vector<float>(), (std::vector<float>{0, 1, 0, 1}));
}

TEST_F(Random, BernoulliRefusesWhatIsNoProbability) {
  for (const float bad : {-0.25f, 1.5f, NAN, INFINITY}) {
    const std::string end = " of element 3 is outside 0 to 1";
    const Tensor p = Tensor::of({0.f, 1.f, 0.5f, bad}).reshape({2, 2});
    EXPECT_THAT(error_text(ErrorKind::invalid, [&] { random_bernoulli(p); }),
                testing::AllOf(testing::StartsWith("random_bernoulli: probability "),
                               testing::EndsWith(end)));
    EXPECT_THAT(error_text(ErrorKind::invalid, [&] { random_bernoulli({2}, bad); }),
                testing::EndsWith(" is outside 0 to 1"));
  }
  EXPECT_EQ(random_bernoulli(Tensor::zeros({0, 3})).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace thalweg
