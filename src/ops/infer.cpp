#include "ops/infer.h"

#include "base/fail.h"

namespace thalweg {

void infer_like_input(const InferContext& ctx) {
  const TensorMeta& in = ctx.in(0);
  TensorMeta& out = ctx.out();
  out.dtype = in.dtype;
  out.shape = in.shape;
  out.strides = in.is_dense() ? in.strides : row_major_strides(in.shape);
}

void infer_broadcast(const InferContext& ctx) {
  const TensorMeta& first = ctx.in(0);
  TensorMeta& out = ctx.out();
  out.dtype = first.dtype;
  out.shape = first.shape;
  for (size_t i = 1; i < ctx.inputs(); ++i) {
    const TensorMeta& in = ctx.in(i);
    if (in.dtype != first.dtype) require_same_dtype(ctx, 0, i);
    if (!(in.shape == out.shape)) out.shape = broadcast_shapes(ctx.op().name, out.shape, in.shape);
  }
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    const TensorMeta& in = ctx.in(i);
    if (in.shape == out.shape && in.is_dense()) {
      out.strides = in.strides;
      return;
    }
  }
  out.strides = row_major_strides(out.shape);
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
