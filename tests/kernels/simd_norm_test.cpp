#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"
#include "ops/norm.h"

namespace thalweg {
namespace {

Tensor values(const Shape& shape, DType dtype, int salt = 1, double mean = 0) {
  std::vector<float> v(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < v.size(); ++i) {
    const size_t k = i * 2654435761u + static_cast<size_t>(salt) * 7919u;
    v[i] = static_cast<float>(static_cast<double>(k % 997) / 250 - 2 + mean);
  }
  return Tensor::of(v, shape).to(dtype);
}

Tolerance tolerance(DType dtype, int64_t summed) {
  const double n = static_cast<double>(summed);
  switch (dtype) {
    case DType::f64:
      return {1e-14 * n, 1e-13};
    case DType::f32:
      return {4e-6 + 1e-6 * n, 1e-5};
    case DType::f16:
      return {3e-3 + 1e-3 * n, 3e-3};
    default:
      return {3e-2 + 1e-2 * n, 3e-2};
  }
}

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

// All three rows on x, whose axis 1 are the channels.
void expect_batch_norm_agrees(const Tensor& x, DType parameters) {
  const BatchNormAttrs attrs{1, 1e-5};
  const int64_t channels = x.size(1), n = x.size() / channels;
  const Tensor weight = abs(values({channels}, parameters, 2)) + 0.5;
  const Tensor bias = values({channels}, parameters, 3);
  const DType wide = statistics_dtype(x.dtype());
  const Tolerance t = tolerance(x.dtype(), 1);
  for (const auto& [w, b] : {std::pair{weight, bias}, {Tensor(), bias}, {weight, Tensor()}}) {
    EXPECT_EQ(expect_kernels_agree("batch_norm", &attrs, {x, w, b}, t), 1);
  }
  const Tensor mean = values({channels}, wide, 4), var = abs(values({channels}, wide, 5)) + 0.5;
  const std::vector<Tensor> given{x, mean, var, weight, bias};
  EXPECT_EQ(expect_kernels_agree("batch_norm_inference", &attrs, given, t), 1);

  Dims folded;
  for (int64_t i = 0; i < x.dims(); ++i) {
    if (i != 1) folded.push_back(i);
  }
  const Tensor exact = x.to(DType::f64);
  const Tensor m = thalweg::mean(exact, folded).to(wide);
  const Tensor v = thalweg::var(exact, {.axes = folded}).to(wide);
  const Tensor g = x * 0.0 + values(x.shape(), x.dtype(), 6);
  const Tolerance sums = tolerance(x.dtype(), n);
  EXPECT_EQ(expect_kernels_agree("batch_norm_vjp", &attrs, {g, x, weight, m, v}, sums), 1);
  EXPECT_EQ(expect_kernels_agree("batch_norm_vjp", &attrs, {g, x, Tensor(), m, v}, sums), 1);
}

TEST(SimdNorm, BatchNormAgreesForEveryNumberOfChannels) {
  for_each_simd_target([] {
    for (int64_t c : {1, 2, 7, 16, 17, 33, 64, 67}) {
      expect_batch_norm_agrees(values({40, c}, DType::f32), DType::f32);
    }
  });
}

TEST(SimdNorm, BatchNormAgreesForEveryDtype) {
  for_each_simd_target([] {
    for (DType dtype : kFloats) {
      expect_batch_norm_agrees(values({70, 20}, dtype), dtype);
      if (is_half(dtype)) expect_batch_norm_agrees(values({70, 20}, dtype), DType::f32);
    }
  });
}

TEST(SimdNorm, BatchNormTakesPlanesAndChannelsLast) {
  for_each_simd_target([] {
    expect_batch_norm_agrees(values({3, 5, 6, 7}, DType::f32), DType::f32);
    expect_batch_norm_agrees(values({2, 3, 5000}, DType::f32), DType::f32);
    expect_batch_norm_agrees(permute(values({3, 6, 7, 5}, DType::f32), {0, 3, 1, 2}), DType::f32);
  });
}

TEST(SimdNorm, BatchNormOfManyRowsKeepsItsBitsOnAnyThreads) {
  expect_batch_norm_agrees(permute(values({8, 40, 40, 24}, DType::f32), {0, 3, 1, 2}), DType::f32);
  expect_batch_norm_agrees(values({9, 6, 70, 70}, DType::f32), DType::f32);
}

TEST(SimdNorm, BatchNormOfALargeMeanKeepsItsVariance) {
  const BatchNormAttrs attrs{1, 1e-5};
  for (const Shape& shape : {Shape{500, 4}, Shape{2, 4, 300}}) {
    const Tensor x = values(shape, DType::f32, 1, 1000);
    EXPECT_EQ(expect_kernels_agree("batch_norm", &attrs, {x, Tensor(), Tensor()}, {3e-4, 1e-4}), 1);
  }
}

void expect_layer_norm_agrees(const Tensor& x, int64_t axis, DType parameters) {
  const LayerNormAttrs attrs{axis, 1e-5};
  Shape last;
  for (int64_t i = axis; i < x.dims(); ++i) last.push_back(x.size(i));
  const int64_t rows = x.size() / element_count(last);
  const Tensor weight = abs(values(last, parameters, 2)) + 0.5, bias = values(last, parameters, 3);
  const Tolerance t = tolerance(x.dtype(), 1), sums = tolerance(x.dtype(), rows);
  EXPECT_EQ(expect_kernels_agree("layer_norm", &attrs, {x, weight, bias}, t), 1);
  EXPECT_EQ(expect_kernels_agree("layer_norm", &attrs, {x, Tensor(), Tensor()}, t), 1);
  EXPECT_EQ(expect_kernels_agree("rms_norm", &attrs, {x, weight}, t), 1);
  const Tensor g = values(x.shape(), x.dtype(), 6);
  for (const char* op : {"layer_norm_vjp", "rms_norm_vjp"}) {
    EXPECT_EQ(expect_kernels_agree(op, &attrs, {g, x, weight}, sums), 1);
    EXPECT_EQ(expect_kernels_agree(op, &attrs, {g, x, Tensor()}, sums), 1);
  }
}

TEST(SimdNorm, LayerNormAgreesForEveryLength) {
  for_each_simd_target([] {
    // Of two elements the gradient is only what cancellation leaves.
    for (int64_t n : {3, 8, 15, 16, 17, 33, 64, 67, 300}) {
      expect_layer_norm_agrees(values({5, n}, DType::f32), 1, DType::f32);
    }
  });
}

TEST(SimdNorm, LayerNormAgreesForEveryDtype) {
  for_each_simd_target([] {
    for (DType dtype : kFloats) {
      expect_layer_norm_agrees(values({4, 3, 20}, dtype), 1, dtype);
      if (is_half(dtype)) expect_layer_norm_agrees(values({4, 20}, dtype), 1, DType::f32);
    }
  });
}

TEST(SimdNorm, LayerNormOfManyRowsKeepsItsBitsOnAnyThreads) {
  expect_layer_norm_agrees(values({3000, 100}, DType::f32), 1, DType::f32);
}

}  // namespace
}  // namespace thalweg
