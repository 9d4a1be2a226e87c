#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pool.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"
#include "ops/index_reference.h"

namespace thalweg {
namespace {

constexpr Tolerance kSums{1e-6, 1e-6};

int kernels_that_agree(const Tensor& src, const Tensor& index, int64_t size,
                       bool from_end = false) {
  const TakeAttrs attrs{2, from_end, size};
  return expect_kernels_agree("scatter_add", &attrs, {src, index, Tensor()}, kSums);
}

TEST(Scatter, AddsLinesToZerosForAnySizeAndOrderOfAxes) {
  for (const Shape& shape : {Shape{64, 6, 196}, Shape{3, 1, 40}, Shape{1, 17, 5}, Shape{0, 2, 3}}) {
    const Tensor index = random_integers(shape, 0, 30), src = random_normal(shape);
    EXPECT_EQ(kernels_that_agree(src, index, 30), 1);
    // Lines side by side.
    const Tensor turned = permute(permute(src, {0, 2, 1}).clone(), {0, 2, 1});
    const Tensor turned_index = permute(permute(index, {0, 2, 1}).clone(), {0, 2, 1});
    EXPECT_EQ(kernels_that_agree(turned, turned_index, 30), 1);
    EXPECT_EQ(kernels_that_agree(src.to(DType::f64), index, 30), 1);
  }
}

TEST(Scatter, CountsNegativeIndicesFromTheEndAndRefusesOthers) {
  const Tensor src = random_normal({2, 3, 4});
  EXPECT_EQ(kernels_that_agree(src, random_integers({2, 3, 4}, -5, 5), 5, true), 1);
  const Tensor wrong = Tensor::full({2, 3, 4}, 9, {.dtype = DType::i64});
  EXPECT_THROW(scatter_add_to_zeros(src, wrong, 2, 9), Error);
}

TEST(Scatter, LeavesOtherArgumentsToTheReference) {
  const Tensor src = random_normal({2, 3, 4}), index = random_integers({2, 3, 4}, 0, 5);
  const TakeAttrs other_axis{1, false, 5};
  EXPECT_EQ(expect_kernels_agree("scatter_add", &other_axis, {src, index, Tensor()}, kSums), 0);
  const TakeAttrs attrs{2, false, 5};
  const Tensor base = random_normal({2, 3, 5});
  EXPECT_EQ(expect_kernels_agree("scatter_add", &attrs, {src, index, base}, kSums), 0);
  EXPECT_EQ(kernels_that_agree(src, index.to(DType::i32), 5), 0);
}

}  // namespace
}  // namespace thalweg
