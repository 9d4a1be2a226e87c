#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"
#include "ops/reduce.h"

namespace thalweg {
namespace {

Tensor values(const Shape& shape, DType dtype = DType::f32) {
  std::vector<float> v(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < v.size(); ++i) {
    v[i] = static_cast<float>(static_cast<int64_t>(i * 2654435761u % 1000)) / 256.0f - 2.0f;
  }
  return Tensor::of(v, shape).to(dtype);
}

Tolerance tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {1e-12, 1e-13};
    case DType::f32:
      return {1e-5, 1e-6};
    case DType::f16:
      return {1e-2, 1e-3};
    default:
      return {1e-1, 8e-3};
  }
}

constexpr const char* kFolds[] = {"sum", "mean", "max", "min"};

void expect_agrees(const Tensor& x, const Dims& axes) {
  const ReduceAttrs attrs = reduce_attrs("test", x, axes, false);
  for (const char* op : kFolds) {
    EXPECT_EQ(expect_kernels_agree(op, &attrs, {x}, tolerance(x.dtype())), 1) << op;
  }
}

TEST(SimdReduce, FoldsRowsOfEveryLength) {
  for_each_simd_target([] {
    for (int64_t n = 1; n <= 67; n += n < 35 ? 1 : 8) expect_agrees(values({3, n}), {1});
    for (int64_t n : {127, 128, 129, 2048, 5000}) expect_agrees(values({2, n}), {1});
  });
}

TEST(SimdReduce, FoldsColumnsOfEveryCount) {
  for_each_simd_target([] {
    for (int64_t n = 1; n <= 67; n += n < 35 ? 1 : 8) expect_agrees(values({5, n}), {0});
    for (int64_t rows : {1, 31, 32, 33, 64, 100}) expect_agrees(values({rows, 10}), {0});
    expect_agrees(values({40, 1500}), {0});
  });
}

TEST(SimdReduce, FoldsEveryFloatingDtype) {
  for_each_simd_target([] {
    for (DType dtype : {DType::f64, DType::f16, DType::bf16}) {
      for (int64_t n : {1, 7, 16, 33, 150}) {
        expect_agrees(values({6, n}, dtype), {1});
        expect_agrees(values({n, 6}, dtype), {0});
      }
    }
  });
}

TEST(SimdReduce, FoldsAnyAxesOfAnyLayout) {
  const Tensor x = values({3, 4, 5, 6});
  const Dims axes[] = {{},     {0},    {1},    {2},       {3},       {0, 1},    {0, 2},   {0, 3},
                       {1, 2}, {1, 3}, {2, 3}, {0, 1, 2}, {0, 2, 3}, {1, 2, 3}, {0, 1, 3}};
  for (const Dims& a : axes) {
    expect_agrees(x, a);
    expect_agrees(permute(x, {0, 3, 1, 2}), a);  // channels last
    expect_agrees(permute(x, {3, 1, 0, 2}), a);
    expect_agrees(broadcast_to(values({3, 1, 5, 1}), {3, 4, 5, 6}), a);
    expect_agrees(x[{Slice{}, Slice{.step = 2}, Slice{1, 4}, Slice{.step = 3}}], a);
  }
}

TEST(SimdReduce, CutsLongFoldsIntoPiecesThatThreadsDoNotChange) {
  expect_agrees(values({200000}), {});
  expect_agrees(values({300, 500}), {});
  expect_agrees(values({2, 150000}), {1});
  expect_agrees(values({40000, 3}), {0});
  expect_agrees(values({700, 300}), {0});
  expect_agrees(values({70, 2, 1100}), {0});
  expect_agrees(values({8, 3, 50, 90}), {0, 2, 3});
  expect_agrees(permute(values({8, 50, 90, 3}), {0, 3, 1, 2}), {0, 2, 3});
}

TEST(SimdReduce, SumsOfManyF32AreAsExactAsPairwiseOnes) {
  const Tensor x = Tensor::full({1 << 20}, 0.1);
  const double exact = static_cast<double>(0.1f) * (1 << 20);
  EXPECT_NEAR(sum(x).item<double>(), exact, exact * 1.2e-7);
  const Tensor rows = sum(reshape(x, {1 << 14, 64}), {0});
  for (float v : rows.to_vector<float>()) EXPECT_NEAR(v, exact / 64, exact / 64 * 3e-7);
}

TEST(SimdReduce, SumsBf16WithoutSticking) {
  EXPECT_EQ(sum(Tensor::ones({1000}, {DType::bf16})).item<double>(), 1000);
  EXPECT_EQ(sum(Tensor::ones({1000, 3}, {DType::bf16}), {0}).to(DType::f32).to_vector<float>(),
            std::vector<float>(3, 1000));
}

TEST(SimdReduce, LetsNanWin) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for_each_simd_target([] {
    for (int64_t n : {2, 9, 16, 40, 200}) {
      for (int64_t at : {int64_t{0}, n / 2, n - 1}) {
        std::vector<float> v(static_cast<size_t>(n), 1.0f);
        v[static_cast<size_t>(at)] = kNan;
        expect_agrees(Tensor::of(v), {});
        expect_agrees(Tensor::of(v, {n, 1}), {0});
        const ReduceAttrs attrs{{0}, false};
        EXPECT_EQ(expect_kernels_agree("argmax", &attrs, {Tensor::of(v)}, {}), 1);
        EXPECT_EQ(expect_kernels_agree("argmin", &attrs, {Tensor::of(v)}, {}), 1);
      }
    }
  });
}

TEST(SimdReduce, FindsTheFirstOfEqualExtremes) {
  for_each_simd_target([] {
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      for (int64_t n : {2, 10, 16, 33, 100, 700}) {
        const Tensor x = values({7, n}, dtype);
        const Tensor equal = Tensor::ones({7, n}, {dtype});
        const ReduceAttrs attrs{{1}, false}, all{{0, 1}, false};
        for (const char* op : {"argmax", "argmin"}) {
          EXPECT_EQ(expect_kernels_agree(op, &attrs, {x}, {}), 1);
          EXPECT_EQ(expect_kernels_agree(op, &attrs, {equal}, {}), 1);
          EXPECT_EQ(expect_kernels_agree(op, &all, {x}, {}), 1);
        }
      }
    }
  });
}

TEST(SimdReduce, LeavesPositionsInAnotherOrderToTheReference) {
  const ReduceAttrs all{{0, 1}, false};
  EXPECT_EQ(expect_kernels_agree("argmax", &all, {transpose(values({4, 5}))}, {}), 0);
}

TEST(SimdReduce, NormsDoNotOverflow) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const NormAttrs attrs{{{1}, false}, 2};
    for (int64_t n : {2, 10, 67, 300}) {
      EXPECT_EQ(expect_kernels_agree("norm", &attrs, {values({5, n}, dtype)}, tolerance(dtype)), 1);
    }
  }
  EXPECT_NEAR(norm(Tensor::full({4}, 1e30)).item<double>(), 2e30, 1e24);
}

TEST(SimdReduce, OfNothingIsWhatTheReferenceSays) {
  const ReduceAttrs attrs{{1}, false};
  for (const char* op : {"sum", "mean"}) {
    EXPECT_EQ(expect_kernels_agree(op, &attrs, {Tensor::zeros({3, 0})}, {}), 1);
    EXPECT_EQ(expect_kernels_agree(op, &attrs, {Tensor::zeros({0, 3})}, {}), 1);
  }
}

}  // namespace
}  // namespace thalweg
