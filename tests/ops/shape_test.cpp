#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

void expect_case(const char* name, const Tensor& actual) {
  SCOPED_TRACE(name);
  expect_near(actual, fixtures("shape")[name]["y"], 1e-12);
}

Tensor input(const char* name) { return array(fixtures("shape")[name]["x"]); }

TEST(Shape, OpsAgreeWithNumPy) {
  const Tensor x = input("pad constant");
  expect_case("pad constant", pad(x, {1, 0, 1}, {0, 2, 1}, PadMode::constant, 7));
  expect_case("pad reflect", pad(x, {1, 2, 3}, {0, 1, 2}, PadMode::reflect));
  expect_case("pad edge", pad(x, {1, 2, 3}, {0, 1, 2}, PadMode::edge));
  expect_case("flip all", flip(x));
  expect_case("flip one", flip(x, {-2}));
  expect_case("tile", tile(x, {2, 1, 3}));
  expect_case("tile more axes", tile(input("tile more axes"), {2, 1, 2}));
  expect_case("tile fewer axes", tile(x, {2}));
  expect_case("repeat", repeat(x, 3, 1));
  expect_case("roll", roll(x, -3, 2));
  expect_case("tril", tril(input("tril"), 1));
  expect_case("triu", triu(x, -1));
  expect_case("concat", concat({x, slice(x, 1, 0, 1), 2.0 * x}, 1));
  expect_case("stack", stack({x, -x}, 2));
}

TEST(Shape, SizesThatOverflowAreErrors) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Tensor x = Tensor::ones({4});
  EXPECT_THROW(pad(x, {kMax}, {kMax}), Error);  // wraps to 2
  EXPECT_THROW(pad(x, {kMax}, {kMax}, PadMode::edge), Error);
  EXPECT_THROW(repeat(x, int64_t{1} << 62, 0), Error);  // wraps to 0
  EXPECT_THROW(tile(x, {int64_t{1} << 62}), Error);
  EXPECT_THROW(one_hot(Tensor::of<int64_t>({1}), kMax), Error);
  EXPECT_THROW(broadcast_to(Tensor::ones({1}), {-1}), Error);
  EXPECT_THROW(broadcast_to(Tensor::ones({1}), {int64_t{1} << 32, int64_t{1} << 32}), Error);
  const Tensor column = broadcast_to(Tensor::ones({1, 1}), {int64_t{1} << 32, 1});
  EXPECT_THROW(column + transpose(column), Error);
  EXPECT_THROW(matmul(column, transpose(column)), Error);
  EXPECT_THROW(split_sizes(x, std::vector<int64_t>{kMax, kMax, 6}), Error);
}

TEST(Shape, StepsShiftsAndDiagonalsMayBeOfAnySize) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const Tensor x = Tensor::of<int64_t>({1, 2, 3});
  EXPECT_EQ(slice(x, 0, 0, 3, kMax).to_vector<int64_t>(), (std::vector<int64_t>{1}));
  EXPECT_EQ(slice(x, 0, 2, -4, kMin).to_vector<int64_t>(), (std::vector<int64_t>{3}));
  EXPECT_EQ(roll(x, kMin, 0).to_vector<int64_t>(), (std::vector<int64_t>{3, 1, 2}));
  const Tensor square = Tensor::ones({2, 2});
  EXPECT_EQ(sum(tril(square, kMax)).item<int>(), 4);
  EXPECT_EQ(sum(triu(square, kMax)).item<int>(), 0);
  EXPECT_EQ(sum(tril(square, kMin)).item<int>(), 0);
  EXPECT_EQ(sum(eye(2, 2, kMin)).item<int>() + sum(eye(2, 2, kMax)).item<int>(), 0);
}

TEST(Shape, RegularTensorsAgreeWithNumPy) {
  expect_case("arange", arange(1, 3, 0.3, {DType::f64}));
  expect_case("arange down", arange(5, -2, -2));
  expect_case("linspace", linspace(-1, 2, 8, {DType::f64}));
  expect_case("eye", eye(3, 5, 1));
  expect_case("eye below", eye(4, 2, -1, {DType::i8}));
  EXPECT_EQ(arange(3).to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(arange(3, 1).size(), 0);
  EXPECT_EQ(linspace(1, 2, 1).to_vector<float>(), std::vector<float>{1});
}

TEST(Arange, RejectsValuesThatTheDtypeCannotHold) {
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { arange(0, 1, 0.25); }),
            "arange: 0.25 cannot be held by i64; pass a floating dtype");
  EXPECT_THROW(arange(0, 1, 0), Error);
}

// apache/mxnet#11635
TEST(Concat, RejectsClashingShapesWithBothAndTheAxis) {
  const Tensor a = Tensor::ones({2, 3}), b = Tensor::ones({2, 4});
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         concat({a, b}, 0);
                       }),
            "concat: sizes of axis 1 differ: tensor 0 is [2, 3], tensor 1 is [2, 4] (3 != 4)");
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         concat({a, Tensor::ones({2})}, 0);
                       }),
            "concat: dimensions differ: tensor 0 is [2, 3], tensor 1 is [2]");
  EXPECT_THROW(concat({}, 0), Error);
  EXPECT_THROW(stack({a, b}), Error);
}

TEST(Concat, PromotesDtypesAndPassesGradients) {
  const Tensor a = Tensor::ones({1, 2}).attach_grad(), b = Tensor::ones({1, 1}, {DType::f64});
  b.attach_grad();
  Tensor y;
  {
    Record record;
    y = concat({a, b, a}, 1);
  }
  EXPECT_EQ(y.dtype(), DType::f64);
  y.backward(Tensor::of({1., 2., 3., 4., 5.}, {1, 5}));
  EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{5, 7}));
  EXPECT_EQ(b.grad().to_vector<double>(), std::vector<double>{3});
}

TEST(Concat, TakesMoreTensorsThanASetOfSavesNames) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 40; ++i) parts.push_back(Tensor::full({1}, i).attach_grad());
  Tensor y;
  {
    Record record;
    y = sum(square(concat(parts)));
  }
  y.backward();
  for (int i = 0; i < 40; ++i) EXPECT_EQ(parts[static_cast<size_t>(i)].grad().item<float>(), 2 * i);
}

TEST(Split, GivesViewsAndFillsMissingGradientsWithZeros) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}).attach_grad();
  std::vector<Tensor> parts;
  Tensor y;
  {
    Record record;
    parts = split(x, 3, 1);
    y = parts[0] * 2.0 + parts[2];
  }
  EXPECT_EQ(parts[1].to_vector<float>(), (std::vector<float>{2, 5}));
  EXPECT_EQ(parts[1].impl()->storage, x.impl()->storage);
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { split(x, 2, 1); }),
            "split: 2 parts of axis 1 of [2, 3]: 3 is not divisible by 2; use split_sizes()");
}

TEST(SplitSizes, CutsPartsOfTheGivenSizes) {
  const std::vector<int64_t> sizes{1, 0, 3}, wrong{1, 2};
  const std::vector<Tensor> parts = split_sizes(arange(4), sizes);
  EXPECT_EQ(parts[0].to_vector<int64_t>(), std::vector<int64_t>{0});
  EXPECT_EQ(parts[1].size(), 0);
  EXPECT_EQ(parts[2].to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_THROW(split_sizes(arange(4), wrong), Error);
}

TEST(Pad, FoldsTheGradientOfReflectedElementsBack) {
  const Tensor x = Tensor::of({1., 2., 3.}).attach_grad();
  Tensor y;
  {
    Record record;
    y = pad(x, {2}, {1}, PadMode::reflect);  // 3 2 1 2 3 2
  }
  y.backward(Tensor::of({1., 10., 100., 1000., 10000., 100000.}));
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{100, 101010, 10001}));
}

TEST(Pad, RejectsWidthsThatDoNotFit) {
  EXPECT_EQ(
      error_text(ErrorKind::invalid, [] { pad(Tensor::ones({3}), {3}, {0}, PadMode::reflect); }),
      "pad: reflect padding of 3 and 0 on axis 0 of x [3]; at most 2");
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { pad(Tensor::ones({3}), {-1}, {0}); }),
            "pad: before [-1] for x [3]; give one number >= 0 for each axis");
  EXPECT_THROW(pad(Tensor::ones({3}, {DType::u8}), {1}, {0}, PadMode::constant, 0.5), Error);
}

TEST(Concat, KeepsChannelsLast) {
  const Tensor a = permute(Tensor::ones({2, 4, 5, 3}), {0, 3, 1, 2});
  EXPECT_EQ(concat({a, a}, 1).strides(), (Dims{120, 1, 30, 6}));
}

TEST(Triangle, PassesNoGradientToTheOtherHalf) {
  const Tensor x = Tensor::ones({2, 2}).attach_grad();
  Tensor y;
  {
    Record record;
    y = tril(x);
  }
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 0, 1, 1}));
}

}  // namespace
}  // namespace thalweg
