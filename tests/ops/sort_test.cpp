#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/sort.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

TEST(Sort, KeepsTheOrderOfEqualElementsAndPutsNanAboveAll) {
  const Tensor x = Tensor::of({2.0, kNan, 1.0, kInf, 2.0, 1.0});
  const Sorted up = sort(x), down = sort(x, {.descending = true});
  expect_near(up.values, Tensor::of({1.0, 1.0, 2.0, 2.0, kInf, kNan}), 0);
  EXPECT_EQ(up.indices.to_vector<int64_t>(), (std::vector<int64_t>{2, 5, 0, 4, 3, 1}));
  expect_near(down.values, Tensor::of({kNan, kInf, 2.0, 2.0, 1.0, 1.0}), 0);
  EXPECT_EQ(down.indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 0, 4, 2, 5}));
}

TEST(Sort, WorksAlongAnyAxisOnAnyDtypeAndStrides) {
  const Tensor x = Tensor::of<int32_t>({5, 1, 4, 2, 3, 6}, {2, 3});
  EXPECT_EQ(sort(x, {.axis = 0}).values.to_vector<int32_t>(),
            (std::vector<int32_t>{2, 1, 4, 5, 3, 6}));
  EXPECT_EQ(argsort(transpose(x), {.axis = 0}).to_vector<int64_t>(),
            (std::vector<int64_t>{1, 0, 2, 1, 0, 2}));
  const Tensor halves = Tensor::of({3.0f, -1.0f, 2.0f}).to(DType::bf16);
  EXPECT_EQ(argsort(halves).to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_THROW(sort(x, {.axis = 2}), Error);
}

TEST(Sort, BringsGradientsBackToWhereTheElementsWere) {
  const Tensor x = Tensor::of({3.0, 1.0, 2.0}).attach_grad();
  Tensor y;
  {
    Record record;
    y = sum(sort(square(x)).values * Tensor::of({1.0, 10.0, 100.0}));
  }
  const Tensor dx = grad(y, x, {.create_graph = true});
  expect_near(dx, Tensor::of({600.0, 2.0, 40.0}), 1e-12);
  expect_near(grad(dx, x), Tensor::of({200.0, 2.0, 20.0}), 1e-12);
}

TEST(Topk, GivesTheBestFirst) {
  const Tensor x = Tensor::of({1.0f, 4.0f, 2.0f, 4.0f, 9.0f, 7.0f, 8.0f, 7.0f}, {2, 4});
  const Sorted best = topk(x, 2);
  EXPECT_EQ(best.values.to_vector<float>(), (std::vector<float>{4, 4, 9, 8}));
  EXPECT_EQ(best.indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 0, 2}));
  EXPECT_EQ(topk(x, 1, {.axis = 0, .largest = false}).values.to_vector<float>(),
            (std::vector<float>{1, 4, 2, 4}));
  EXPECT_EQ(topk(x, 0).values.shape(), (Shape{2, 0}));
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { topk(x, 5); }),
            "topk: k is 5; axis 1 of shape [2, 4] has 4 elements");
}

// apache/mxnet#12197, #11031
TEST(Topk, IsExactBeyondWhatAFloatCounts) {
  const int64_t place = (int64_t{1} << 24) + 1;
  const Tensor x = Tensor::zeros({place + 3}, {DType::u8});
  x.mutable_data<uint8_t>()[place] = 1;
  EXPECT_EQ(topk(x, 1).indices.item<int64_t>(), place);
}

}  // namespace
}  // namespace thalweg
