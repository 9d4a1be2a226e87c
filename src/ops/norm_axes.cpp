#include "base/fail.h"
#include "ops/infer.h"
#include "ops/norm.h"

namespace thalweg {
namespace {

Shape with_ones(Shape shape, const Dims& axes, bool named) {
  Dims is_named(shape.size(), 0);
  for (int64_t axis : axes) is_named[axis] = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((is_named[i] != 0) == named) shape[i] = 1;
  }
  return shape;
}

void check_parameter(const InferContext& ctx, size_t i, const Shape& shape) {
  if (!ctx.has(i)) return;
  const TensorMeta &x = ctx.in(0), &p = ctx.in(i);
  if (p.shape != shape) {
    fail_invalid("{}: input {} of ({}) has shape {} for x of shape {}; expected {}", ctx.op().name,
                 i, ctx.op().inputs, to_string(p.shape), to_string(x.shape), to_string(shape));
  }
  if (p.dtype != x.dtype && !(is_half(x.dtype) && p.dtype == DType::f32)) {
    fail_invalid(
        "{}: input {} of ({}) is {} beside x of {}; it takes x's dtype, or f32 with halves",
        ctx.op().name, i, ctx.op().inputs, name(p.dtype), name(x.dtype));
  }
}

}  // namespace

Shape NormAxes::folded_shape() const { return with_ones(shape, folded, true); }
Shape NormAxes::scaled_shape() const { return with_ones(shape, scaled, false); }

int64_t NormAxes::folded_count() const {
  int64_t count = 1;
  for (int64_t axis : folded) count *= shape[axis];
  return count;
}

TensorMeta NormAxes::view(const TensorMeta& m) const {
  if (m.shape == shape) return m;
  TensorMeta result = m;
  result.shape = shape;
  result.strides.insert(1, m.strides[1] * shape[2]);
  return result;
}

NormAxes batch_norm_axes(const Shape& x, const BatchNormAttrs& attrs) {
  const int64_t channels = normalize_axis("batch_norm", attrs.axis, x.size());
  NormAxes a{x, {}, {channels}};
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    if (i != channels) a.folded.push_back(i);
  }
  return a;
}

NormAxes layer_norm_axes(const Shape& x, const LayerNormAttrs& attrs) {
  NormAxes a{x, {}, {}};
  const auto first = static_cast<size_t>(normalize_axis("layer_norm", attrs.axis, x.size()));
  for (size_t i = first; i < x.size(); ++i) a.folded.push_back(static_cast<int64_t>(i));
  a.scaled = a.folded;
  return a;
}

NormAxes group_norm_axes(const Shape& x, const GroupNormAttrs& attrs) {
  NormAxes a{x, {}, {1, 2}};
  a.shape[1] = attrs.groups;
  a.shape.insert(2, x[1] / attrs.groups);
  for (size_t i = 2; i < a.shape.size(); ++i) a.folded.push_back(static_cast<int64_t>(i));
  return a;
}

void infer_norm(const InferContext& ctx, size_t first, const Shape& parameter_shape) {
  for (size_t i = first; i < ctx.inputs(); ++i) check_parameter(ctx, i, parameter_shape);
  infer_like_input(ctx);
}

void infer_norm_vjp(const InferContext& ctx, const Shape& parameter_shape) {
  const TensorMeta& x = ctx.in(1);
  ctx.out().dtype = x.dtype;
  ctx.out().shape = x.shape;
  ctx.out().strides = x.is_dense() ? x.strides : row_major_strides(x.shape);
  for (size_t i = 1; i < ctx.outputs(); ++i) {
    ctx.out(i).dtype = ctx.has(2) ? ctx.in(2).dtype : x.dtype;
    ctx.out(i).set_row_major(parameter_shape);
  }
}

double checked_epsilon(const char* operation, double epsilon) {
  if (!(epsilon >= 0))
    fail_invalid("{}: epsilon is {}; it must not be negative", operation, epsilon);
  return epsilon;
}

}  // namespace thalweg
