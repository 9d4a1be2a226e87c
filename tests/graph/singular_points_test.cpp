// Values and gradients where formulas break down, from others' bug reports.

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>

namespace thalweg {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct PowGradients {
  double value, dx, dp;
};

PowGradients pow_gradients(double base, double exponent) {
  const Tensor x = Tensor::scalar(base, {.dtype = DType::f64}).attach_grad();
  const Tensor p = Tensor::scalar(exponent, {.dtype = DType::f64}).attach_grad();
  Tensor y;
  {
    Record record;
    y = pow(x, p);
  }
  y.backward();
  return {y.item<double>(), x.grad().item<double>(), p.grad().item<double>()};
}

// pytorch/pytorch#8940
TEST(Pow, HasFiniteGradientsAtZero) {
  const Tensor x = Tensor::of({0.0, 1.0}).attach_grad();
  Tensor s;
  {
    Record record;
    s = sum(pow(x, 0.0));
  }
  s.backward();
  EXPECT_EQ(s.item<double>(), 2);
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{0, 0}));
  EXPECT_EQ(pow_gradients(0, 1).dx, 1);
  EXPECT_EQ(pow_gradients(0, 2).dx, 0);
  EXPECT_EQ(pow_gradients(0, 0.5).dx, kInf);
  EXPECT_EQ(pow_gradients(-2, 3).dx, 12);
  EXPECT_EQ(pow_gradients(2, 0).dx, 0);
  EXPECT_EQ(pow_gradients(0, 0).dp, 0);
  EXPECT_EQ(pow_gradients(0, 1).dp, 0);
  EXPECT_EQ(pow_gradients(0, 2).dp, 0);
  EXPECT_DOUBLE_EQ(pow_gradients(2, 0).dp, std::log(2.0));
}

// pytorch/pytorch#6990
TEST(Saved, OnlyWhatAGradientNeedsMustStayAsItWas) {
  const Tensor w = Tensor::of({2.0f}).attach_grad();
  Tensor y, z;
  {
    Record record;
    y = w * w;
    const Tensor h = 3 * w;
    z = h * h;
  }
  w.detach().fill(0);
  EXPECT_THROW(y.backward(), Error);
  z.backward();
  EXPECT_FLOAT_EQ(w.grad().item<float>(), 36);
}

// apache/mxnet#17989: eight and more paths into one leaf
TEST(Accumulate, AnyNumberOfPathsIntoOneLeafIsExact) {
  for (int paths : {1, 5, 8, 9, 33}) {
    for (GradReq req : {GradReq::write, GradReq::add}) {
      const Tensor x = Tensor::of({1.0f, 2.0f}, {1, 2});
      const Tensor w = Tensor::of({0.5f, -1.0f, 2.0f, 0.25f}, {2, 2}).attach_grad(req);
      Tensor loss;
      {
        Record record;
        Tensor total = linear(x, w);
        for (int i = 1; i < paths; ++i) total = total + linear(x, w);
        loss = sum(total);
      }
      loss.backward();
      const float n = static_cast<float>(paths);
      EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{n, 2 * n, n, 2 * n})) << paths;
    }
  }
}

TEST(Accumulate, AddsAcrossBackwardsAndWriteReplaces) {
  const Tensor x = Tensor::of({3.0f}).attach_grad(GradReq::add);
  const Tensor y = Tensor::of({3.0f}).attach_grad(GradReq::write);
  for (int i = 0; i < 3; ++i) {
    Tensor loss;
    {
      Record record;
      loss = x * x + y * y;
    }
    loss.backward();
  }
  EXPECT_EQ(x.grad().item<float>(), 18);
  EXPECT_EQ(y.grad().item<float>(), 6);
  x.zero_grad();
  EXPECT_EQ(x.grad().item<float>(), 0);
}

// tinygrad/tinygrad#9597
TEST(Leaves, WithEqualContentsStayApart) {
  const Tensor a = Tensor::scalar(3).attach_grad(), b = Tensor::scalar(3).attach_grad();
  Tensor loss;
  {
    Record record;
    loss = 2 * a + 5 * b;
  }
  loss.backward();
  EXPECT_EQ(loss.item<float>(), 21);
  EXPECT_EQ(a.grad().item<float>(), 2);
  EXPECT_EQ(b.grad().item<float>(), 5);
}

TEST(Backward, NamesTheOpThatHasNoGradient) {
  const Tensor x = Tensor::of({1.5f}).attach_grad();
  Tensor y;
  {
    Record record;
    y = floor(x) * 2.0;
  }
  try {
    y.backward();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("floor has no gradient"), std::string::npos)
        << error.what();
  }
}

TEST(Backward, TellsThatNothingWasRecorded) {
  const Tensor x = Tensor::of({1.5f}).attach_grad();
  const Tensor y = x * x;
  EXPECT_THROW(y.backward(), Error);
  Tensor z;
  {
    Record record;
    Pause pause;
    z = x * x;
  }
  EXPECT_THROW(z.backward(), Error);
}

TEST(Recording, RefusesAChangeInPlaceOfWhatItKeeps) {
  const Tensor x = Tensor::of({1.0f}).attach_grad();
  Record record;
  const Tensor y = x * 2.0;
  EXPECT_THROW(y += 1.0, Error);
  EXPECT_THROW(x.fill(0), Error);
  Tensor constant = Tensor::ones({1});
  EXPECT_THROW(constant.assign(y), Error);
  constant += 1.0;
  EXPECT_EQ(constant.item<float>(), 2);
}

TEST(Gradients, KeepTheirHandleWhenWrittenAgain) {
  const Tensor x = Tensor::of({1.0f}).attach_grad();
  const Tensor held = x.grad();
  Tensor y;
  {
    Record record;
    y = x * 7.0;
  }
  y.backward();
  EXPECT_EQ(held.item<float>(), 7);
}

TEST(Recording, TwoHeadsOfOneScopeGoBackOneAfterTheOther) {
  const Tensor x = Tensor::of({2.0f}).attach_grad(), z = Tensor::of({5.0f}).attach_grad();
  Tensor a, b;
  {
    Record record;
    a = x * x;
    b = z * z;
  }
  a.backward();
  b.backward();
  EXPECT_EQ(x.grad().item<float>(), 4);
  EXPECT_EQ(z.grad().item<float>(), 10);
}

TEST(Memory, OfAStepIsGivenBack) {
  const Tensor x = Tensor::ones({256, 256}).attach_grad();
  const auto step = [&] {
    Tensor loss;
    {
      Record record;
      loss = sum(square(x) * x);
    }
    loss.backward();
  };
  step();
  const size_t after_one = memory_stats().live;
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(memory_stats().live, after_one);
}

}  // namespace
}  // namespace thalweg
