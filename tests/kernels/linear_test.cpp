#include <gtest/gtest.h>

#include <thalweg/ops/linear.h>
#include <thalweg/ops/samples.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"

namespace thalweg {
namespace {

void expect_agree(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const DType dtype = x.dtype();
  const double epsilon = dtype == DType::f64 ? 2.3e-16 : 1.2e-7;
  const double rounding = dtype == DType::bf16 ? 8e-3 : dtype == DType::f16 ? 1e-3 : 4 * epsilon;
  const NoAttrs attrs;
  EXPECT_GE(expect_kernels_agree("linear", &attrs, {x, weight, bias},
                                 {epsilon * static_cast<double>(weight.size(1) + 4), rounding}),
            1);
}

TEST(LinearKernels, AgreeWithTheReference) {
  const int64_t batches[] = {0, 1, 5, 64, 129}, outs[] = {1, 4, 10, 64, 300},
                ins[] = {0, 1, 4, 64, 784};
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    for (const int64_t m : batches) {
      for (const int64_t n : outs) {
        for (const int64_t k : ins) {
          Samples draw(dtype);
          const Tensor x = draw.spread({m, k}, -1, 1), weight = draw.spread({n, k}, -1, 1);
          expect_agree(x, weight, draw.spread({n}, -1, 1));
          expect_agree(x, weight, Tensor());
        }
      }
    }
  }
}

TEST(LinearKernels, TakeAnyNumberOfLeadingAxes) {
  Samples draw(DType::f32);
  const Tensor weight = draw.spread({20, 30}, -1, 1), bias = draw.spread({20}, -1, 1);
  expect_agree(draw.spread({30}, -1, 1), weight, bias);
  expect_agree(draw.spread({2, 7, 30}, -1, 1), weight, bias);
  expect_agree(draw.spread({7, 2, 30}, -1, 1).transpose(0, 1), weight, bias);
  expect_agree(draw.spread({2, 0, 30}, -1, 1), weight, bias);
}

TEST(LinearKernels, TakeViews) {
  Samples draw(DType::f32);
  const Tensor wide = draw.spread({100, 100}, -1, 1), bias = draw.spread({60}, -1, 1);
  expect_agree(transpose(wide), slice(wide, 0, 0, 20), slice(bias, 0, 0, 60, 3));
  expect_agree(slice(wide, 1, 0, 50),
               slice(transpose(wide), 1, 50, 0, -1).transpose(0, 1).transpose(0, 1),
               broadcast_to(slice(bias, 0, 0, 1), {100}));
}

}  // namespace
}  // namespace thalweg
