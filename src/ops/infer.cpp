#include "ops/infer.h"

#include <ranges>

#include "base/fail.h"

namespace thalweg {

void infer_like_input(const InferContext& ctx) {
  const TensorMeta& in = ctx.in(0);
  TensorMeta& out = ctx.out();
  out.dtype = in.dtype;
  out.shape = in.shape;
  out.strides = !ctx.in_row_major(0) && in.is_dense() ? in.strides : row_major_strides(in.shape);
}

namespace {

template <typename Indices>
void broadcast(const InferContext& ctx, const Indices& indices) {
  TensorMeta& out = ctx.out();
  out.shape = ctx.in(*indices.begin()).shape;
  for (size_t i : indices) {
    const Shape& shape = ctx.in(i).shape;
    if (!(shape == out.shape)) out.shape = broadcast_shapes(ctx.op().name, out.shape, shape);
  }
  for (size_t i : indices) {
    const TensorMeta& in = ctx.in(i);
    if (in.shape == out.shape && in.is_dense()) {
      out.strides = in.strides;
      return;
    }
  }
  out.strides = row_major_strides(out.shape);
}

}  // namespace

void infer_broadcast_of(const InferContext& ctx, std::initializer_list<size_t> inputs) {
  broadcast(ctx, inputs);
}

void infer_broadcast(const InferContext& ctx) {
  for (size_t i = 1; i < ctx.inputs(); ++i) {
    if (ctx.in(i).dtype != ctx.in(0).dtype) require_same_dtype(ctx, 0, i);
  }
  TensorMeta& out = ctx.out();
  out.dtype = ctx.in(0).dtype;
  if (ctx.in_row_major(0)) {
    // Most calls: the other inputs have this shape, or are numbers.
    bool plain = true;
    for (size_t i = 1; i < ctx.inputs(); ++i) {
      const Shape& shape = ctx.in(i).shape;
      plain = plain && (shape.empty() || shape == ctx.in(0).shape);
    }
    if (plain) {
      out.shape = ctx.in(0).shape;
      out.strides = row_major_strides(out.shape);
      return;
    }
  }
  broadcast(ctx, std::views::iota(size_t{0}, ctx.inputs()));
}

void infer_broadcast_bool(const InferContext& ctx) {
  infer_broadcast(ctx);
  ctx.out().dtype = DType::boolean;
}

void require_floating(const InferContext& ctx, size_t i) {
  if (is_floating(ctx.in(i).dtype)) return;
  fail_invalid("{}: {} input of shape {}; it takes floating elements; convert with to(DType::f32)",
               ctx.op().name, name(ctx.in(i).dtype), to_string(ctx.in(i).shape));
}

void require_number(const InferContext& ctx, size_t i) {
  if (ctx.in(i).dtype != DType::boolean) return;
  fail_invalid("{}: bool input of shape {}; it takes numbers; convert with to(DType::f32)",
               ctx.op().name, to_string(ctx.in(i).shape));
}

void require_same_dtype(const InferContext& ctx, size_t a, size_t b) {
  if (ctx.in(a).dtype == ctx.in(b).dtype) return;
  fail_invalid("{}: dtypes differ: {} {} and {} {} (inputs {} and {} of {}); convert one with to()",
               ctx.op().name, name(ctx.in(a).dtype), to_string(ctx.in(a).shape),
               name(ctx.in(b).dtype), to_string(ctx.in(b).shape), a, b, ctx.op().inputs);
}

void require_dims(const InferContext& ctx, size_t i, size_t dims, const char* expected) {
  if (ctx.in(i).shape.size() == dims) return;
  fail_invalid("{}: input {} of ({}) has shape {}; expected {} dimensions, {}", ctx.op().name, i,
               ctx.op().inputs, to_string(ctx.in(i).shape), dims, expected);
}

}  // namespace thalweg
