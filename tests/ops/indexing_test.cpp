#include <numeric>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

Tensor counted(const Shape& shape) { return reshape(arange(element_count(shape)), shape); }

std::vector<int64_t> values(const Tensor& x) { return x.to_vector<int64_t>(); }

TEST(Indexing, FollowsNumPy) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(values(x[1]), values(counted({2, 12})[{1, Slice{}}]));
  EXPECT_EQ(x[1].shape(), (Shape{3, 4}));
  EXPECT_EQ(values(x[{-1, 2, -4}]), std::vector<int64_t>{20});
  EXPECT_EQ((x[{1, 2, 0}].shape()), Shape{});
  const Tensor part = x[{Slice{}, Slice{1, 3}, Slice{.step = -2}}];
  EXPECT_EQ(part.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(values(part), (std::vector<int64_t>{7, 5, 11, 9, 19, 17, 23, 21}));
  EXPECT_EQ((x[{Ellipsis{}, 1}].shape()), (Shape{2, 3}));
  EXPECT_EQ(values(x[{Ellipsis{}, 1}]), (std::vector<int64_t>{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ((x[{NewAxis{}, 0, Ellipsis{}, NewAxis{}}].shape()), (Shape{1, 3, 4, 1}));
  EXPECT_EQ((x[{Slice{5, 9}}].shape()), (Shape{0, 3, 4}));
}

TEST(Indexing, GivesViewsThatCanBeWritten) {
  const Tensor x = counted({2, 3, 4});
  x[{Slice{}, 1, Slice{0, 2}}].fill(-1);
  x[{NewAxis{}, Ellipsis{}, 3, NewAxis{}}].fill(-2);
  EXPECT_EQ(values(x), (std::vector<int64_t>{0,  1,  2,  -2, -1, -1, 6,  -2, 8,  9,  10, -2,
                                             12, 13, 14, -2, -1, -1, 18, -2, 20, 21, 22, -2}));
  const Tensor t = counted({3, 2});
  transpose(t)[1].fill(9);
  EXPECT_EQ(values(t), (std::vector<int64_t>{0, 9, 2, 9, 4, 9}));
}

TEST(Reshape, TakesEmptyTensorsOfAnyStrides) {
  const Tensor x = permute(counted({0, 2, 3, 2}), {0, 3, 1, 2});
  EXPECT_EQ(reshape(x, {0, 4, 3}).shape(), (Shape{0, 4, 3}));
  EXPECT_EQ(reshape(x, {2, 0}).size(), 0);
}

TEST(Indexing, PassesGradients) {
  const Tensor x = Tensor::ones({2, 3}).attach_grad();
  Tensor y;
  {
    Record record;
    y = x[{1, Slice{0, 2}}] * 3.0;
  }
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 0, 0, 3, 3, 0}));
}

TEST(Indexing, RejectsPositionsOutOfRange) {
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         counted({2, 3})[{0, -4}];
                       }),
            "index: position -4 is out of range for axis 1 of size 3; shape [2, 3]");
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         counted({2})[{0, 0}];
                       }),
            "index: 2 entries for shape [2], which has 1 dimensions");
  EXPECT_THROW((counted({2, 3})[{Ellipsis{}, Ellipsis{}}]), Error);
  EXPECT_THROW(Tensor::scalar(1)[0], Error);
}

}  // namespace
}  // namespace thalweg
