#include "tensor/copy.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace thalweg {
namespace {

Tensor counting(const Shape& shape) {
  std::vector<int32_t> v(static_cast<size_t>(element_count(shape)));
  std::iota(v.begin(), v.end(), 0);
  return Tensor::of(v, shape);
}

// The view of x whose axis i is x's axis order[i], of every step-th position.
Tensor view(const Tensor& x, const Dims& order, int64_t step) {
  TensorMeta m = x.meta();
  for (size_t i = 0; i < order.size(); ++i) {
    m.shape[i] = (x.shape()[order[i]] + step - 1) / step;
    m.strides[i] = x.strides()[order[i]] * step;
  }
  return make_view(x, m);
}

// Element by element from the definition of strides.
void expect_copied(const Tensor& out, const Tensor& in) {
  const Shape& shape = in.shape();
  for (int64_t n = 0; n < in.size(); ++n) {
    int64_t rest = n, o = 0, i = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      o += rest % shape[axis] * out.strides()[axis];
      i += rest % shape[axis] * in.strides()[axis];
      rest /= shape[axis];
    }
    ASSERT_EQ(out.impl()->as<int32_t>()[o], in.impl()->as<int32_t>()[i])
        << "element " << n << " of " << to_string(shape) << ", strides " << to_string(in.strides())
        << " to " << to_string(out.strides());
  }
}

void copy_both_ways(const Tensor& in) {
  const Tensor plain = Tensor::zeros(in.shape(), {DType::i32});
  copy_strided(*plain.impl(), *in.impl());
  expect_copied(plain, in);
  const Tensor block =
      Tensor::zeros({static_cast<int64_t>(in.impl()->storage->bytes() / 4)}, {DType::i32});
  const Tensor back = make_view(block, in.meta());
  copy_strided(*back.impl(), *plain.impl());
  expect_copied(back, plain);
}

TEST(Copy, ReordersAxesOfEveryOrder) {
  for (const Shape& shape : {Shape{3, 1, 5, 4}, Shape{2, 33, 3, 40}, Shape{1, 1, 1, 1}}) {
    const Tensor x = counting(shape);
    Dims order{0, 1, 2, 3};
    do {
      copy_both_ways(view(x, order, 1));
      copy_both_ways(view(x, order, 2));
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Copy, CutsLargeArraysIntoTiles) {
  copy_both_ways(view(counting({300, 301}), {1, 0}, 1));
  copy_both_ways(view(counting({4, 3, 70, 90}), {0, 2, 3, 1}, 1));
  copy_both_ways(view(counting({4, 70, 90, 3}), {0, 3, 1, 2}, 1));
  copy_both_ways(counting({100000}));
}

TEST(Copy, RepeatsBroadcastElements) {
  const Tensor x = counting({5});
  TensorMeta m = x.meta();
  m.shape = {6, 5, 7};
  m.strides = {0, 1, 0};
  const Tensor repeated = make_view(x, m), out = Tensor::zeros(m.shape, {DType::i32});
  copy_strided(*out.impl(), *repeated.impl());
  expect_copied(out, repeated);
}

TEST(Copy, TakesEmptyArrays) {
  const Tensor x = counting({3, 0, 2}), out = Tensor::zeros({3, 0, 2}, {DType::i32});
  copy_strided(*out.impl(), *x.impl());
}

}  // namespace
}  // namespace thalweg
