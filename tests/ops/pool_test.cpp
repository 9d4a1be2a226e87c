#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/pool.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

MaxPoolOptions max_options(const Json& c) {
  return {dims(c["kernel"]), dims(c["stride"]), dims(c["padding"]), c["ceil"].get<bool>()};
}

Tensor pooled(const Json& c, const Tensor& x) {
  if (c["kind"] == "max") return max_pool(x, max_options(c));
  return avg_pool(x, {dims(c["kernel"]), dims(c["stride"]), dims(c["padding"]),
                      c["ceil"].get<bool>(), c["include_pad"].get<bool>()});
}

void expect_case(const Json& c, const Tensor& x, double tolerance) {
  x.attach_grad();
  Tensor y;
  {
    Record record;
    y = pooled(c, x);
  }
  y.backward(array(c["dy"], x.dtype()));
  expect_near(y, c["y"], tolerance);
  expect_near(x.grad(), c["dx"], tolerance);
}

Tensor channels_last(const Tensor& x) {
  Dims to_last{0}, back{0, x.dims() - 1};
  for (int64_t i = 2; i < x.dims(); ++i) to_last.push_back(i);
  to_last.push_back(1);
  for (int64_t i = 1; i < x.dims() - 1; ++i) back.push_back(i);
  return permute(contiguous(permute(x, to_last)), back).detach();
}

TEST(Pool, AgreesWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("pool").items()) {
    SCOPED_TRACE(name);
    expect_case(c, array(c["x"], DType::f64), 1e-9);
    expect_case(c, array(c["x"], DType::f32), 1e-5);
    expect_case(c, array(c["x"], DType::bf16), 4e-2);
    expect_case(c, channels_last(array(c["x"], DType::f64)), 1e-9);
  }
}

TEST(MaxPool, GivesPyTorchsIndices) {
  for (const auto& [name, c] : fixtures("pool").items()) {
    if (c["kind"] != "max") continue;
    SCOPED_TRACE(name);
    const MaxPoolResult r = max_pool_with_indices(array(c["x"]), max_options(c));
    EXPECT_EQ(r.indices.dtype(), DType::i64);
    expect_near(r.indices, c["indices"], 0);
  }
}

TEST(Pool, GivesChannelsLastResults) {
  const Tensor x = Tensor::ones({2, 3, 4, 6}).attach_grad();
  EXPECT_EQ(max_pool(x).strides(), (Dims{18, 1, 9, 3}));
  EXPECT_EQ(avg_pool(channels_last(x)).strides(), (Dims{18, 1, 9, 3}));
}

// tensorflow/tensorflow#10216
TEST(MaxPool, LetsNoPaddingWinOverNegativeElements) {
  const Tensor x = Tensor::of({1.f, -1.f, 0.f, -1.f, 2.f, 1.f, 0.f, 2.f, -2.f}, {1, 1, 3, 3});
  const Tensor y = max_pool(x, {.kernel = 2, .ceil_mode = true});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 1, 2, -2}));
}

// tensorflow/tensorflow#10216, tinygrad/tinygrad#7726
TEST(MaxPool, KeepsIntegersAndCountsIndicesWithoutPadding) {
  const MaxPoolOptions options{.kernel = 3, .stride = 1, .padding = 1};
  const MaxPoolResult r = max_pool_with_indices(
      Tensor::of({int32_t{-1}, int32_t{-2}, int32_t{-3}}, {1, 1, 3}), options);
  EXPECT_EQ(r.values.to_vector<int32_t>(), (std::vector<int32_t>{-1, -1, -2}));
  EXPECT_EQ(r.indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 1}));
  const Tensor f = max_pool(Tensor::of({-1.f, -2.f, -3.f}, {1, 1, 3}), options);
  EXPECT_EQ(f.to_vector<float>(), (std::vector<float>{-1, -1, -2}));
}

// apache/mxnet#6191
TEST(MaxPool, RejectsWindowsThatCouldBeAllPadding) {
  EXPECT_EQ(
      error_text(ErrorKind::invalid,
                 [] {
                   max_pool(Tensor::of({1.f, 2.f}, {1, 1, 2}), {.padding = 2});
                 }),
      "max_pool: padding [2] is more than half the kernel [2]; a window could be all padding");
}

TEST(MaxPool, RejectsWindowsWhoseSizesOverflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Tensor x = Tensor::ones({1, 1, 4});
  EXPECT_THROW(max_pool(x, {.kernel = kMax, .padding = kMax / 2}), Error);
  EXPECT_THROW(avg_pool(x, {.kernel = kMax}), Error);
}

TEST(MaxPool, RejectsAKernelLargerThanTheInput) {
  EXPECT_EQ(
      error_text(ErrorKind::invalid,
                 [] {
                   max_pool(Tensor::ones({1, 1, 2, 4}), {.kernel = 3});
                 }),
      "max_pool: the kernel is larger than the padded input on axis 2 (3 > 2); x [1, 1, 2, 4], "
      "kernel=[3, 3], stride=[3, 3], padding=[0, 0], ceil_mode=false");
}

// tensorflow/tensorflow#10216
TEST(MaxPool, LetsNanWin) {
  const Tensor y = max_pool(Tensor::of({1.f, NAN, 2.f, 0.f}, {1, 1, 4}));
  EXPECT_TRUE(std::isnan(y.to_vector<float>()[0]));
  EXPECT_EQ(y.to_vector<float>()[1], 2);
}

std::vector<float> gradient_of_max(const Tensor& x, const MaxPoolOptions& options) {
  x.attach_grad();
  Tensor y;
  {
    Record record;
    y = max_pool(x, options);
  }
  y.backward();
  return x.grad().to_vector<float>();
}

// tensorflow/tensorflow#10216
TEST(MaxPool, GivesTheWholeGradientToTheFirstOfEqualElements) {
  EXPECT_EQ(gradient_of_max(Tensor::of({5.f, 5.f, 5.f}, {1, 1, 3}), {.kernel = 3}),
            (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(gradient_of_max(Tensor::of({1.f, 3.f, 2.f}, {1, 1, 3}), {.kernel = 2, .stride = 1}),
            (std::vector<float>{0, 2, 0}));
}

TEST(Pool, TakesAnEmptyBatch) {
  const Tensor x = Tensor::ones({0, 2, 4, 4}).attach_grad();
  Tensor y;
  {
    Record record;
    y = max_pool(x) + avg_pool(x);
  }
  EXPECT_EQ(y.shape(), (Shape{0, 2, 2, 2}));
  y.backward();
  EXPECT_EQ(x.grad().shape(), x.shape());
}

TEST(Pool, GivesSecondDerivatives) {
  // With y = pool(x * x), the sum of (dy/dx)^2 is 4 x^2 / n^2 for the elements that count.
  const Tensor x = Tensor::of({1., 3., -2., 5.}, {1, 1, 4}).attach_grad();
  const auto second = [&](auto&& pool) {
    Tensor y, total;
    {
      Record record;
      y = pool(x * x);
    }
    const Tensor dx = grad(y, x, {.create_graph = true});
    {
      Record record;
      total = sum(dx * dx);
    }
    return grad(total, x).to_vector<double>();
  };
  EXPECT_EQ(second([](const Tensor& t) { return max_pool(t); }),
            (std::vector<double>{0, 24, 0, 40}));
  EXPECT_EQ(second([](const Tensor& t) { return avg_pool(t); }),
            (std::vector<double>{2, 6, -4, 10}));
}

TEST(GlobalPool, KeepsTheSpatialAxesWithSizeOne) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f, 6.f, -1.f, -2.f, -3.f, -2.f}, {1, 2, 2, 2});
  EXPECT_EQ(global_avg_pool(x).shape(), (Shape{1, 2, 1, 1}));
  EXPECT_EQ(global_avg_pool(x).to_vector<float>(), (std::vector<float>{3, -2}));
  EXPECT_EQ(global_max_pool(x).to_vector<float>(), (std::vector<float>{6, -1}));
}

}  // namespace
}  // namespace thalweg
