#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/linear.h>
#include <thalweg/ops/samples.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"

namespace thalweg {
namespace {

// Sums of k products of numbers below 1, each rounded.
Tolerance tolerance(DType dtype, int64_t k) {
  const double epsilon = dtype == DType::f64 ? 2.3e-16 : 1.2e-7;
  const double rounding = dtype == DType::bf16 ? 8e-3 : dtype == DType::f16 ? 1e-3 : 4 * epsilon;
  return {epsilon * static_cast<double>(k + 4), rounding};
}

void expect_agree(const Tensor& a, const Tensor& b) {
  const NoAttrs attrs;
  EXPECT_GE(expect_kernels_agree("matmul", &attrs, {a, b}, tolerance(a.dtype(), a.shape().back())),
            1);
}

constexpr DType kDtypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16};

struct Size {
  int64_t m, n, k;
};

constexpr Size kSizes[] = {{1, 1, 1},      {1, 7, 5},      {4, 4, 4},     {5, 1, 9},
                           {3, 10, 17},    {64, 10, 64},   {65, 64, 33},  {10, 64, 64},
                           {64, 784, 64},  {64, 64, 784},  {129, 65, 31}, {200, 300, 100},
                           {130, 520, 70}, {33, 260, 800}, {1, 300, 500}, {500, 1, 300}};

TEST(MatmulKernels, AgreeWithTheReference) {
  for (const DType dtype : kDtypes) {
    for (const Size& s : kSizes) {
      Samples draw(dtype);
      expect_agree(draw.spread({s.m, s.k}, -1, 1), draw.spread({s.k, s.n}, -1, 1));
    }
  }
}

TEST(MatmulKernels, TakeTransposedViews) {
  for (const DType dtype : kDtypes) {
    for (const Size& s : kSizes) {
      Samples draw(dtype);
      const Tensor a = draw.spread({s.m, s.k}, -1, 1), b = draw.spread({s.k, s.n}, -1, 1);
      const Tensor at = transpose(draw.spread({s.k, s.m}, -1, 1));
      const Tensor bt = transpose(draw.spread({s.n, s.k}, -1, 1));
      expect_agree(at, b);
      expect_agree(a, bt);
      expect_agree(at, bt);
    }
  }
}

TEST(MatmulKernels, TakeBroadcastAndSlicedViews) {
  Samples draw(DType::f32);
  const Tensor row = draw.spread({1, 40}, -1, 1), column = draw.spread({40, 1}, -1, 1);
  const Tensor wide = draw.spread({60, 120}, -1, 1);
  expect_agree(broadcast_to(row, {20, 40}), broadcast_to(column, {40, 30}));
  expect_agree(slice(slice(wide, 0, 3, 50), 1, 10, 70), slice(wide, 1, 20, 90));
  expect_agree(slice(wide, 1, 0, 120, 2), slice(wide, 1, 100, 0, -3));
}

TEST(MatmulKernels, GiveZerosForASumOfNothing) {
  Samples draw(DType::f32);
  expect_agree(draw.spread({3, 0}), draw.spread({0, 5}));
  expect_agree(draw.spread({0, 3}), draw.spread({3, 5}));
  expect_agree(draw.spread({2, 3, 0}), draw.spread({0, 5}));
  expect_agree(draw.spread({0, 2, 3}), draw.spread({0, 3, 5}));
}

TEST(MatmulKernels, BroadcastOverBatches) {
  Samples draw(DType::f32);
  expect_agree(draw.spread({3, 33, 20}, -1, 1), draw.spread({20, 17}, -1, 1));
  expect_agree(draw.spread({20, 33, 20}, -1, 1), draw.spread({20, 20, 17}, -1, 1));
  expect_agree(draw.spread({2, 1, 33, 20}, -1, 1), draw.spread({5, 20, 17}, -1, 1));
  expect_agree(transpose(draw.spread({12, 20, 33}, -1, 1)),
               transpose(draw.spread({12, 17, 20}, -1, 1)));
  expect_agree(draw.spread({2, 3, 8, 5}, -1, 1).permute({0, 2, 1, 3}), draw.spread({5, 6}, -1, 1));
}

}  // namespace
}  // namespace thalweg
