#include "ops/reduce.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor run(const Json& c, const Tensor& x) {
  const std::string op = c["op"];
  const Dims axes = dims(c["axes"]);
  const bool keepdims = c["keepdims"];
  if (op == "sum") return sum(x, axes, keepdims);
  if (op == "mean") return mean(x, axes, keepdims);
  if (op == "prod") return prod(x, axes, keepdims);
  if (op == "max") return max(x, axes, keepdims);
  if (op == "min") return min(x, axes, keepdims);
  if (op == "logsumexp") return logsumexp(x, axes, keepdims);
  if (op == "norm") {
    return norm(x, {c["p"].is_string() ? kInf : c["p"].get<double>(), axes, keepdims});
  }
  if (op == "var") return var(x, {axes, c["correction"], keepdims});
  if (op == "std") return std(x, {axes, c["correction"], keepdims});
  EXPECT_EQ(op, "cumsum");
  return cumsum(x, axes[0]);
}

TEST(Reductions, AgreeWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("reduce").items()) {
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      SCOPED_TRACE(name + thalweg::name(dtype));
      const Tensor x = array(c["x"], dtype).attach_grad();
      Tensor y;
      {
        Record record;
        y = run(c, x);
      }
      y.backward(array(c["dy"], dtype));
      const double tolerance = tolerance_of(dtype) * (is_half(dtype) ? 10 : 1);
      expect_near(y, c["y"], tolerance);
      expect_near(x.grad(), c["dx"], tolerance);
    }
  }
}

TEST(Reductions, GiveSecondDerivativesAsPyTorch) {
  for (const auto& [name, c] : fixtures("reduce").items()) {
    if (!c.contains("ddx")) continue;
    SCOPED_TRACE(name);
    const Tensor x = array(c["x"]).attach_grad(), dy = array(c["dy"]).attach_grad();
    Tensor y;
    {
      Record record;
      y = run(c, x);
    }
    const Tensor dx =
        grad(std::span(&y, 1), std::span(&x, 1), std::span(&dy, 1), {.create_graph = true})[0];
    expect_near(dx, c["dx"], 1e-9);
    Tensor total;
    {
      Record record;
      total = sum(square(dx));
    }
    x.attach_grad();
    total.backward();
    expect_near(x.grad(), c["ddx"], 1e-8);
    expect_near(dy.grad(), c["ddy"], 1e-8);
  }
}

Tensor gradient_of(Tensor (*f)(const Tensor&), const Tensor& x) {
  x.attach_grad();
  Tensor y;
  {
    Record record;
    y = f(x);
  }
  y.backward();
  return x.grad();
}

// apache/mxnet#17864, #18078
TEST(Prod, GivesTheProductOfTheOthersAsGradientWhereAnElementIsZero) {
  const auto f = [](const Tensor& x) { return prod(x, {1}); };
  EXPECT_EQ(gradient_of(f, Tensor::of({4.0f, 0.0f}, {1, 2})).to_vector<float>(),
            (std::vector<float>{0, 4}));
}

TEST(Max, LetsNanWinAndKeepsTheDtype) {
  const Tensor x = Tensor::of({1.0, kNan, 3.0, -kInf, -2.0, -3.0}, {2, 3});
  expect_near(max(x, {1}), Tensor::of({kNan, -2.0}), 0);
  expect_near(min(x, {1}), Tensor::of({kNan, -kInf}), 0);
  EXPECT_EQ(max(Tensor::of<int8_t>({-7, -3, -128})).item<int8_t>(), -3);
  EXPECT_EQ(min(Tensor::of<uint8_t>({7, 3, 255})).item<uint8_t>(), 3);
}

TEST(Max, OfNothingIsRefused) {
  const Tensor x = Tensor::zeros({2, 0});
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { max(x, {1}); }),
            "max: no elements along axes [1] of shape [2, 0]; of nothing it is not defined");
  EXPECT_THROW(argmin(x), Error);
  EXPECT_EQ(max(x, {0}).shape(), Shape{0});
}

TEST(Argmax, GivesTheFirstOfEqualElementsAndTheFirstNan) {
  EXPECT_EQ(argmax(Tensor::of({1.0f, 5.0f, 5.0f})).item<int64_t>(), 1);
  EXPECT_EQ(argmin(Tensor::of({1.0f, 5.0f, 1.0f})).item<int64_t>(), 0);
  EXPECT_EQ(argmax(Tensor::of({1.0, kNan, 7.0, kNan})).item<int64_t>(), 1);
  EXPECT_EQ(argmin(Tensor::of({1.0, kNan, -7.0})).item<int64_t>(), 1);
  const Tensor x = Tensor::of({1.0f, 2.0f, 6.0f, 5.0f, 4.0f, 3.0f}, {2, 3});
  EXPECT_EQ(argmax(x, -1).to_vector<int64_t>(), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(argmax(x, 0, true).shape(), (Shape{1, 3}));
  EXPECT_EQ(argmax(transpose(x)).item<int64_t>(), 4);
}

// apache/mxnet#9007, #19362
TEST(Argmax, WorksOnHalves) {
  EXPECT_EQ(argmax(Tensor::of({-3.0f, -1.0f, -2.0f}).to(DType::f16)).item<int64_t>(), 1);
  std::vector<float> many(99999, 1.0f);
  many[70001] = -1;
  EXPECT_EQ(argmin(Tensor::of(many).to(DType::f16)).item<int64_t>(), 70001);
}

// apache/mxnet#12197, #19753, #11031
TEST(Argmax, IsExactBeyondWhatAFloatCounts) {
  const int64_t place = (int64_t{1} << 24) + 1;
  const Tensor x = Tensor::zeros({place + 3}, {DType::u8});
  x.mutable_data<uint8_t>()[place] = 1;
  EXPECT_EQ(argmax(x).item<int64_t>(), place);
}

// apache/mxnet#15125
TEST(Sum, OfHalvesMayPassTheirRangeOnTheWay) {
  const Tensor x = Tensor::of({6e4f, 6e4f, -6e4f, -6e4f}).to(DType::f16);
  EXPECT_EQ(static_cast<float>(sum(x).item<float>()), 0);
}

TEST(Reductions, OfNothingGiveTheirIdentity) {
  const Tensor x = Tensor::zeros({2, 0});
  EXPECT_EQ(sum(x, {1}).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(prod(x, {1}).to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(logsumexp(x, {1}).to_vector<float>(), (std::vector<float>(2, -kInf)));
  EXPECT_EQ(norm(x).item<float>(), 0);
  EXPECT_FALSE(any(x).item<bool>());
  EXPECT_TRUE(all(x).item<bool>());
  EXPECT_TRUE(std::isnan(mean(x).item<float>()));
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { var(x, {.axes = {1}}); }),
            "var: 0 elements along axes [1] of shape [2, 0] with correction 0; it takes more");
  EXPECT_THROW(std(Tensor::ones({1}), {.correction = 1}), Error);
}

TEST(Reductions, OfIntegersAreSummedInI64) {
  EXPECT_EQ(sum(Tensor::full({3}, 100, {DType::i8})).item<int64_t>(), 300);
  EXPECT_EQ(prod(Tensor::full({3}, 100, {DType::u8})).item<int64_t>(), 1000000);
  EXPECT_EQ(cumsum(Tensor::full({3}, 100, {DType::i8}), 0).to_vector<int64_t>(),
            (std::vector<int64_t>{100, 200, 300}));
  EXPECT_EQ(sum(Tensor::of({true, false, true})).item<int64_t>(), 2);
}

// jax-ml/jax#6811, tensorflow/tensorflow#11692, pytorch/pytorch#31829
TEST(Logsumexp, HoldsAtInfinities) {
  const auto f = [](const Tensor& x) { return logsumexp(x); };
  const auto expect = [&](std::vector<float> x, double value, std::vector<float> gradient) {
    const Tensor t = Tensor::of(x);
    expect_near(f(t), Tensor::scalar(value, {DType::f64}), 1e-6);
    expect_near(gradient_of(f, t), Tensor::of(gradient), 1e-4);
  };
  const float inf = static_cast<float>(kInf);
  expect({-inf, -inf}, -kInf, {0, 0});
  expect({-inf, 1}, 1, {0, 1});
  expect({1000, 1000}, 1000.693147, {.5f, .5f});
  expect({-1000, -1001}, -999.686738, {.731059f, .268941f});
  EXPECT_EQ(f(Tensor::of({inf, 0.0f})).item<float>(), inf);
}

TEST(Norm, DoesNotOverflowOnTheWay) {
  EXPECT_DOUBLE_EQ(norm(Tensor::of({3e200, 4e200})).item<double>(), 5e200);
  EXPECT_FLOAT_EQ(norm(Tensor::of({3e-30f, 4e-30f})).item<float>(), 5e-30f);
  EXPECT_TRUE(std::isnan(norm(Tensor::of({kNan, kInf})).item<double>()));
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { norm(Tensor::ones({2}), {.p = 0}); }),
            "norm: p is 0; it must be above 0");
}

TEST(Var, KeepsItsDigitsFarFromZero) {
  const Tensor x = Tensor::of({100000.0f, 100001.0f, 100002.0f, 100003.0f});
  EXPECT_FLOAT_EQ(var(x).item<float>(), 1.25f);
  EXPECT_FLOAT_EQ(std(x, {.correction = 1}).item<float>(), 1.2909944f);
}

TEST(Std, HasNoGradientWhereAllElementsAreEqual) {
  const auto f = [](const Tensor& x) { return std(x); };
  EXPECT_EQ(gradient_of(f, Tensor::ones({3})).to_vector<float>(), (std::vector<float>{0, 0, 0}));
}

TEST(AnyAndAll, TakeEveryDtypeAndCountNanAsTrue) {
  const Tensor x = Tensor::of({0.0, kNan, 0.0, 0.0}, {2, 2});
  EXPECT_EQ(any(x, {1}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(all(Tensor::of<int32_t>({1, 2, 0, 4}, {2, 2}), {1}).to_vector<bool>(),
            (std::vector<bool>{true, false}));
}

TEST(Reductions, RefuseBadAxes) {
  const Tensor x = Tensor::ones({2, 3});
  EXPECT_THROW(max(x, {2}), Error);
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         prod(x, {1, -1});
                       }),
            "prod: axes [1, -1] name one axis twice");
  EXPECT_THROW(cumsum(Tensor::ones({}), 0), Error);
}

}  // namespace
}  // namespace thalweg
