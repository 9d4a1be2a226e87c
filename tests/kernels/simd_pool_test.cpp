#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"
#include "ops/pool.h"

namespace thalweg {
namespace {

Tensor values(const Shape& shape, DType dtype) {
  std::vector<float> v(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < v.size(); ++i) {
    v[i] = static_cast<float>(static_cast<int64_t>(i * 2654435761u % 1000)) / 256.0f - 2.0f;
  }
  return Tensor::of(v, shape).to(dtype);
}

// [N, C, H, W] whose channels lie side by side.
Tensor channels_last(const Shape& s, DType dtype) {
  return permute(values({s[0], s[2], s[3], s[1]}, dtype), {0, 3, 1, 2});
}

Tolerance tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {1e-12, 0};
    case DType::f32:
      return {1e-5, 0};
    case DType::f16:
      return {4e-3, 0};
    default:
      return {3e-2, 0};
  }
}

constexpr DType kDTypes4[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

TEST(SimdPool, TakesEveryCountOfChannels) {
  const MaxPoolAttrs max{{3, 2}, {2, 1}, {1, 1}, true};
  const AvgPoolAttrs mean{{3, 2}, {2, 1}, {1, 1}, {}, true, true};
  for_each_simd_target([&] {
    for (DType dtype : kDTypes4) {
      SCOPED_TRACE(name(dtype));
      for (int64_t c = 1; c <= 35; c += c < 18 ? 1 : 8) {
        const Tensor x = channels_last({2, c, 6, 5}, dtype);
        EXPECT_EQ(expect_kernels_agree("max_pool", &max, {x}, {}), 1);
        EXPECT_EQ(expect_kernels_agree("avg_pool", &mean, {x}, tolerance(dtype)), 1);
      }
    }
  });
}

TEST(SimdPool, SumsTheGradientOfOverlappingWindows) {
  AvgPoolAttrs a{{3, 2}, {2, 1}, {1, 1}, {6, 5}, true, false};
  for_each_simd_target([&] {
    for (DType dtype : kDTypes4) {
      SCOPED_TRACE(name(dtype));
      for (int64_t c : {1, 3, 8, 17}) {
        for (bool include : {true, false}) {
          a.count_include_pad = include;
          const Tensor g = channels_last({2, c, 4, 6}, dtype);
          EXPECT_EQ(expect_kernels_agree("avg_pool_gradient", &a, {g}, tolerance(dtype)), 1);
        }
      }
    }
  });
}

TEST(SimdPool, TakesRowMajorInputOfOneToThreeAxes) {
  const MaxPoolAttrs line{{2}, {2}, {0}, false}, cube{{2, 3, 2}, {1, 2, 2}, {1, 0, 1}, false};
  EXPECT_EQ(expect_kernels_agree("max_pool", &line, {values({3, 5, 9}, DType::f32)}, {}), 1);
  EXPECT_EQ(expect_kernels_agree("max_pool", &cube, {values({2, 5, 4, 6, 3}, DType::f32)}, {}), 1);
}

TEST(SimdPool, LetsTheFirstNanWin) {
  Tensor x = channels_last({1, 20, 4, 4}, DType::f32);
  x = where(x > 1.5, NAN, x);
  const MaxPoolAttrs a{{2, 2}, {1, 1}, {0, 0}, false};
  for_each_simd_target([&] { expect_kernels_agree("max_pool", &a, {x}, {}); });
}

TEST(SimdPool, CutsLargeWorkTheSameForAnyNumberOfThreads) {
  const MaxPoolAttrs a{{2, 2}, {2, 2}, {0, 0}, false};
  const Tensor x = channels_last({16, 24, 48, 48}, DType::f32);
  EXPECT_EQ(expect_kernels_agree("max_pool", &a, {x}, {}), 1);
}

}  // namespace
}  // namespace thalweg
