#include <algorithm>

#include <thalweg/ops/call.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/index_reference.h"
#include "ops/index_values.h"
#include "ops/infer.h"
#include "ops/layout.h"
#include "ops/row_gradient.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

extern const Op kTake, kTakeGradient, kGather, kScatterAdd;

void check_axis(const InferContext& ctx, int64_t axis, const Shape& shape) {
  if (axis >= 0 && axis < static_cast<int64_t>(shape.size())) return;
  fail_invalid("{}: no axis {} in shape {}", ctx.op().name, axis, to_string(shape));
}

// --- take, and its gradient ---
void infer_take(const InferContext& ctx) {
  require_index(ctx, 1);
  const Shape &x = ctx.in(0).shape, &indices = ctx.in(1).shape;
  const size_t axis = static_cast<size_t>(ctx.attrs<TakeAttrs>().axis);
  check_axis(ctx, ctx.attrs<TakeAttrs>().axis, x);
  Shape shape(std::span<const int64_t>(x).first(axis));
  for (int64_t size : indices) shape.push_back(size);
  for (size_t i = axis + 1; i < x.size(); ++i) shape.push_back(x[i]);
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(shape);
}

void infer_take_gradient(const InferContext& ctx) {
  require_number(ctx, 0);
  require_index(ctx, 1);
  const TakeAttrs& a = ctx.attrs<TakeAttrs>();
  const Shape &g = ctx.in(0).shape, &indices = ctx.in(1).shape;
  const size_t axis = static_cast<size_t>(a.axis), end = axis + indices.size();
  bool fits = a.axis >= 0 && end <= g.size();
  for (size_t i = axis; i < end && fits; ++i) fits = g[i] == indices[i - axis];
  if (!fits) {
    fail_invalid("take_gradient: g {} was not taken along axis {} by indices {}", to_string(g),
                 a.axis, to_string(indices));
  }
  Shape shape(std::span<const int64_t>(g).first(axis));
  shape.push_back(a.size);
  for (size_t i = end; i < g.size(); ++i) shape.push_back(g[i]);
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(shape);
}

void vjp_take(VjpContext& ctx) {
  TakeAttrs a = ctx.attrs<TakeAttrs>();
  if (a.sparse_grad && !a.from_end && a.axis == 0 && ctx.takes_rows(0)) {
    const TouchedRows touched = touched_rows(ctx.input(1));
    a.size = touched.indices.size();
    ctx.set_rows(0, {0, touched.indices, call(kTakeGradient, a, ctx.grad(), touched.places)});
    return;
  }
  a.size = ctx.input_meta(0).shape[a.axis];
  ctx.set(0, call(kTakeGradient, a, ctx.grad(), ctx.input(1)));
}

void vjp_take_gradient(VjpContext& ctx) {
  ctx.set(0, call(kTake, ctx.attrs<TakeAttrs>(), ctx.grad(), ctx.input(1)));
}

void sample_take(Samples& s) {
  s.add({s.spread({4, 3}), s.integers({5}, -4, 4)}, TakeAttrs{0, true});
  s.add({s.spread({2, 5, 3}), s.integers({2, 2}, 0, 5)}, TakeAttrs{1, false});
  s.add({transpose(s.spread({3, 4})), s.integers({}, 0, 3)}, TakeAttrs{1, true});
  s.add({s.spread({3, 2}), s.integers({0}, 0, 3)}, TakeAttrs{0, true});
}

void sample_take_gradient(Samples& s) {
  s.add({s.spread({5, 3}), s.integers({5}, -4, 4)}, TakeAttrs{0, true, 4});
  s.add({s.spread({2, 2, 3}), s.integers({2}, 0, 5)}, TakeAttrs{1, false, 5});
  s.add({s.spread({0, 2}), s.integers({0}, 0, 3)}, TakeAttrs{0, true, 3});
}

const Op kTake{.name = "take",
               .doc = "Slices of one axis of x at given positions.",
               .inputs = "x, indices",
               .attrs = attr_info<TakeAttrs>,
               .infer = infer_take,
               .vjp = vjp_take,
               .saves = {Saves{2, 0}},
               .reference = reference_take,
               .samples = sample_take};

const Op kTakeGradient{
    .name = "take_gradient",
    .doc = "Adds slices to zeros at given positions of one axis; the gradient of take.",
    .inputs = "g, indices",
    .attrs = attr_info<TakeAttrs>,
    .flags = {.internal = true},
    .infer = infer_take_gradient,
    .vjp = vjp_take_gradient,
    .saves = {Saves{2, 0}},
    .reference = reference_take_gradient,
    .samples = sample_take_gradient};

// --- gather and scatter_add ---

// Both shapes must be equal but for the axis.
void check_lines(const InferContext& ctx, const Shape& lines, const Shape& index, int64_t axis) {
  bool fits = lines.size() == index.size();
  for (size_t i = 0; i < lines.size() && fits; ++i) {
    fits = static_cast<int64_t>(i) == axis || lines[i] == index[i];
  }
  if (!fits) {
    fail_invalid("{}: index {} does not fit x {}; the shapes may differ in axis {} only",
                 ctx.op().name, to_string(index), to_string(lines), axis);
  }
}

void infer_gather(const InferContext& ctx) {
  require_index(ctx, 1);
  const TakeAttrs& a = ctx.attrs<TakeAttrs>();
  check_axis(ctx, a.axis, ctx.in(0).shape);
  check_lines(ctx, ctx.in(0).shape, ctx.in(1).shape, a.axis);
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().shape = ctx.in(1).shape;
  ctx.out().strides = strides_like(ctx.in(1), ctx.in(1).shape);
}

void infer_scatter_add(const InferContext& ctx) {
  require_number(ctx, 0);
  require_index(ctx, 1);
  const TakeAttrs& a = ctx.attrs<TakeAttrs>();
  const TensorMeta &src = ctx.in(0), &index = ctx.in(1);
  check_axis(ctx, a.axis, src.shape);
  if (src.shape != index.shape) {
    fail_invalid("scatter_add: src {} and index {} differ in shape", to_string(src.shape),
                 to_string(index.shape));
  }
  Shape shape = src.shape;
  shape[a.axis] = a.size;
  if (ctx.has(2)) {
    require_same_dtype(ctx, 0, 2);
    check_lines(ctx, ctx.in(2).shape, index.shape, a.axis);
    shape = ctx.in(2).shape;
  }
  ctx.out().dtype = src.dtype;
  ctx.out().shape = shape;
  ctx.out().strides = strides_like(ctx.has(2) ? ctx.in(2) : index, shape);
}

void vjp_gather(VjpContext& ctx) {
  TakeAttrs a = ctx.attrs<TakeAttrs>();
  a.size = ctx.input_meta(0).shape[a.axis];
  ctx.set(0, call(kScatterAdd, a, ctx.grad(), ctx.input(1), Tensor()));
}

void vjp_scatter_add(VjpContext& ctx) {
  if (ctx.needs(0)) {
    ctx.set(0, call(kGather, ctx.attrs<TakeAttrs>(), ctx.grad(), ctx.input(1)));
  }
  if (ctx.needs(2)) ctx.set(2, ctx.grad());
}

void sample_gather(Samples& s) {
  s.add({s.spread({3, 4}), s.integers({3, 2}, -4, 4)}, TakeAttrs{1, true});
  s.add({s.spread({4, 3}), s.integers({6, 3}, 0, 4)}, TakeAttrs{0, false});
  s.add({permute(s.spread({2, 4, 3}), {0, 2, 1}), s.integers({2, 3, 2}, 0, 4)}, TakeAttrs{2, true});
  s.add({s.spread({3, 4}), s.integers({3, 0}, 0, 4)}, TakeAttrs{1, true});
}

void sample_scatter_add(Samples& s) {
  s.add({s.spread({3, 2}), s.integers({3, 2}, -4, 4), s.spread({3, 4})}, TakeAttrs{1, true, 4});
  s.add({s.spread({6, 3}), s.integers({6, 3}, 0, 4), Tensor()}, TakeAttrs{0, false, 4});
  s.add({s.spread({2, 3, 2}), s.integers({2, 3, 2}, 0, 4), permute(s.spread({2, 4, 3}), {0, 2, 1})},
        TakeAttrs{2, true, 4});
  s.add({s.spread({3, 0}), s.integers({3, 0}, 0, 4), s.spread({3, 4})}, TakeAttrs{1, true, 4});
}

const Op kGather{.name = "gather",
                 .doc = "The elements at given positions of each line of x along an axis.",
                 .inputs = "x, index",
                 .attrs = attr_info<TakeAttrs>,
                 .infer = infer_gather,
                 .vjp = vjp_gather,
                 .saves = {Saves{2, 0}},
                 .reference = reference_gather,
                 .samples = sample_gather};

const Op kScatterAdd{
    .name = "scatter_add",
    .doc = "Adds the elements of src to given positions of each line of x, or of zeros.",
    .inputs = "src, index, x?",
    .attrs = attr_info<TakeAttrs>,
    .infer = infer_scatter_add,
    .vjp = vjp_scatter_add,
    .saves = {Saves{2, 0}},
    .reference = reference_scatter_add,
    .samples = sample_scatter_add};

// --- one_hot ---
struct OneHotAttrs {
  int64_t classes = 0;
  DType dtype = DType::f32;
  static auto fields() {
    return std::tuple{attr("classes", &OneHotAttrs::classes, "size of the new last axis"),
                      attr("dtype", &OneHotAttrs::dtype, "of the result")};
  }
};

void infer_one_hot(const InferContext& ctx) {
  require_index(ctx, 0);
  const OneHotAttrs& a = ctx.attrs<OneHotAttrs>();
  if (a.classes < 0) fail_invalid("one_hot: {} classes; give 0 or more", a.classes);
  Shape shape = ctx.in(0).shape;
  shape.push_back(a.classes);
  ctx.out().dtype = a.dtype;
  ctx.out().set_row_major(shape);
}

void sample_one_hot(Samples& s) {
  s.add({s.integers({5}, 0, 4)}, OneHotAttrs{4, DType::f32});
  s.add({s.integers({2, 3}, 0, 2)}, OneHotAttrs{2, DType::i64});
  s.add({s.integers({}, 0, 3)}, OneHotAttrs{3, DType::boolean});
  s.add({s.integers({0}, 0, 3)}, OneHotAttrs{3, DType::f16});
}

const Op kOneHot{.name = "one_hot",
                 .doc = "1 at the position that each index names on a new last axis, else 0.",
                 .inputs = "indices",
                 .attrs = attr_info<OneHotAttrs>,
                 .infer = infer_one_hot,
                 .no_gradient = "its input is integers",
                 .reference = reference_one_hot,
                 .samples = sample_one_hot};

// Size-1 axes of `index`, other than `axis`, repeated to those of `shape`.
Tensor repeat_to(const Tensor& index, const Shape& shape, int64_t axis) {
  if (index.shape().size() != shape.size()) return index;
  Shape wanted = shape;
  wanted[axis] = index.shape()[axis];
  for (size_t i = 0; i < shape.size(); ++i) {
    if (index.shape()[i] != 1) wanted[i] = index.shape()[i];
  }
  return broadcast_to(index, wanted);
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, int64_t axis) {
  return call(kTake, TakeAttrs{normalize_axis("take", axis, x.shape().size())}, x, indices);
}

Tensor embedding(const Tensor& indices, const Tensor& weight, EmbeddingGradient gradient) {
  const bool sparse = gradient == EmbeddingGradient::rows;
  return call(kTake, TakeAttrs{.from_end = false, .sparse_grad = sparse}, weight, indices);
}

Tensor gather(const Tensor& x, const Tensor& index, int64_t axis) {
  const int64_t normal = normalize_axis("gather", axis, x.shape().size());
  return call(kGather, TakeAttrs{normal}, x, repeat_to(index, x.shape(), normal));
}

Tensor scatter_add(const Tensor& x, const Tensor& index, const Tensor& src, int64_t axis) {
  const int64_t normal = normalize_axis("scatter_add", axis, x.shape().size());
  return call(kScatterAdd, TakeAttrs{normal, true, x.shape()[normal]}, src, index, x);
}

Tensor scatter_add_to_zeros(const Tensor& src, const Tensor& index, int64_t axis, int64_t size) {
  const int64_t normal = normalize_axis("scatter_add", axis, src.shape().size());
  if (size < 0) fail_invalid("scatter_add: size {} is negative", size);
  return call(kScatterAdd, TakeAttrs{normal, true, size}, src, index, Tensor());
}

Tensor pick(const Tensor& x, const Tensor& index, int64_t axis, bool keepdims) {
  const int64_t normal = normalize_axis("pick", axis, x.shape().size());
  Shape with_axis = x.shape(), without = x.shape();
  with_axis[normal] = 1;
  without.erase(normal);
  if (index.shape() != with_axis && index.shape() != without) {
    fail_invalid("pick: index {} does not fit x {}; expected {} or {}", to_string(index.shape()),
                 to_string(x.shape()), to_string(without), to_string(with_axis));
  }
  const Tensor picked = call(kGather, TakeAttrs{normal, false}, x, reshape(index, with_axis));
  return keepdims ? picked : reshape(picked, without);
}

Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype) {
  return call(kOneHot, OneHotAttrs{classes, dtype}, indices);
}

Tensor nonzero(const Tensor& x) {
  const std::vector<bool> set = cast(x, DType::boolean).to_vector<bool>();
  const size_t n = x.shape().size();
  std::vector<int64_t> positions;
  for (size_t i = 0; i < set.size(); ++i) {
    if (!set[i]) continue;
    int64_t rest = static_cast<int64_t>(i);
    positions.resize(positions.size() + n);
    for (size_t axis = n; axis-- > 0;) {
      positions[positions.size() - n + axis] = rest % x.shape()[axis];
      rest /= x.shape()[axis];
    }
  }
  const int64_t count = std::count(set.begin(), set.end(), true);
  return Tensor::of(positions, {count, static_cast<int64_t>(n)}, x.device());
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  if (mask.dtype() != DType::boolean) {
    fail_invalid("masked_select: the mask is {}; it must be bool; compare first",
                 name(mask.dtype()));
  }
  const size_t n = mask.shape().size();
  if (n > x.shape().size() || mask.shape() != Shape(std::span<const int64_t>(x.shape()).first(n))) {
    fail_invalid("masked_select: mask {} does not fit the first axes of x {}",
                 to_string(mask.shape()), to_string(x.shape()));
  }
  const std::vector<bool> set = mask.to_vector<bool>();
  std::vector<int64_t> positions;
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i]) positions.push_back(static_cast<int64_t>(i));
  }
  Shape flat{mask.size()};
  for (size_t i = n; i < x.shape().size(); ++i) flat.push_back(x.shape()[i]);
  return take(reshape(x, flat), Tensor::of(positions, {-1}, x.device()), 0);
}

Tensor Tensor::operator[](const Tensor& index) const {
  return index.dtype() == DType::boolean ? masked_select(*this, index) : take(*this, index, 0);
}

std::span<const Op* const> index_rows() {
  static constexpr const Op* rows[] = {&kTake, &kTakeGradient, &kGather, &kScatterAdd, &kOneHot};
  return rows;
}

}  // namespace thalweg
