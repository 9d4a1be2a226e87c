#include <algorithm>

#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/reduce.h"
#include "ops/samples.h"

namespace thalweg {

ReduceAttrs reduce_attrs(const char* operation, const Tensor& x, const Dims& axes, bool keepdims) {
  ReduceAttrs a;
  a.keepdims = keepdims;
  if (!x.defined()) return a;
  const size_t n = x.shape().size();
  if (axes.empty()) {
    for (size_t i = 0; i < n; ++i) a.axes.push_back(static_cast<int64_t>(i));
    return a;
  }
  for (int64_t axis : axes) a.axes.push_back(normalize_axis(operation, axis, n));
  std::sort(a.axes.begin(), a.axes.end());
  if (std::adjacent_find(a.axes.begin(), a.axes.end()) != a.axes.end()) {
    fail_invalid("{}: axes {} name one axis twice", operation, to_string(axes));
  }
  return a;
}

Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdims) {
  Shape result;
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (next < axes.size() && axes[next] == static_cast<int64_t>(i)) {
      ++next;
      if (keepdims) result.push_back(1);
    } else {
      result.push_back(shape[i]);
    }
  }
  return result;
}

void infer_reduced(const InferContext& ctx) {
  const ReduceAttrs& a = ctx.attrs<ReduceAttrs>();
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(reduced_shape(ctx.in(0).shape, a.axes, a.keepdims));
}

void infer_sum(const InferContext& ctx) {
  infer_reduced(ctx);
  if (!is_floating(ctx.in(0).dtype)) ctx.out().dtype = DType::i64;
}

void infer_floating_reduced(const InferContext& ctx) {
  require_floating(ctx, 0);
  infer_reduced(ctx);
}

int64_t folded_count(const Shape& shape, const Dims& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= shape[axis];
  return count;
}

void require_elements(const InferContext& ctx, const Dims& axes) {
  const Shape& shape = ctx.in(0).shape;
  if (folded_count(shape, axes) > 0 || element_count(reduced_shape(shape, axes, false)) == 0) {
    return;
  }
  fail_invalid("{}: no elements along axes {} of shape {}; of nothing it is not defined",
               ctx.op().name, to_string(axes), to_string(shape));
}

Tensor with_folded_axes(const Tensor& y, const TensorMeta& x, const ReduceAttrs& a) {
  return a.keepdims ? y : reshape(y, reduced_shape(x.shape, a.axes, true));
}

Tensor spread_back(const Tensor& g, const TensorMeta& x, const ReduceAttrs& a) {
  if (g.dims() == 0) return broadcast_to(g, x.shape);
  return broadcast_to(with_folded_axes(g, x, a), x.shape);
}

ReducedElements::ReducedElements(const TensorMeta& in, const Dims& axes) {
  for (int64_t axis : axes) {
    sizes_.push_back(in.shape[axis]);
    strides_.push_back(in.strides[axis]);
    count_ *= in.shape[axis];
  }
}

void sample_reduce(Samples& s) {
  s.add({s.spread({3, 4})}, ReduceAttrs{{0, 1}, false});
  s.add({s.spread({3, 4})}, ReduceAttrs{{1}, true});
  s.add({s.spread({2, 3, 4})}, ReduceAttrs{{0, 2}, false});
  s.add({s.spread({})}, ReduceAttrs{});
  s.add({transpose(s.spread({4, 3}))}, ReduceAttrs{{0}, false});
}

}  // namespace thalweg
