#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>

#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"
#include "ops/random.h"

namespace thalweg {
namespace {

Tensor counted(int64_t n, DType dtype) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 97) + 1;
  return Tensor::of(v).to(dtype);
}

TEST(SimdDropout, DropsTheElementsThatTheReferenceDrops) {
  for_each_simd_target([] {
    for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      SCOPED_TRACE(name(dtype));
      for (int64_t n = 1; n <= 150; n += n < 70 ? 1 : 16) {
        const DropoutAttrs a{0.3, 12345678901234567u, 42};
        EXPECT_EQ(expect_kernels_agree("dropout", &a, {counted(n, dtype)}, {}), 1);
      }
    }
  });
}

TEST(SimdDropout, CountsBlocksOverTheEndOfAWord) {
  const DropoutAttrs a{0.5, 7, 0xFFFFFFF5u};
  for_each_simd_target(
      [&] { EXPECT_EQ(expect_kernels_agree("dropout", &a, {counted(400, DType::f32)}, {}), 1); });
}

TEST(SimdDropout, GivesTheSameMaskInEveryTile) {
  const DropoutAttrs a{0.5, 7, 1};
  EXPECT_EQ(expect_kernels_agree("dropout", &a, {counted(100003, DType::f32)}, {}), 1);
}

}  // namespace
}  // namespace thalweg
