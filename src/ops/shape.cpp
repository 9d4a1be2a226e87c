#include <algorithm>

#include <thalweg/ops/call.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/layout.h"
#include "ops/samples.h"
#include "ops/table.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

struct AxisAttrs {
  int64_t axis = 0;
  static auto fields() {
    return std::tuple{attr("axis", &AxisAttrs::axis, "the axis of the joint")};
  }
};

// The part of a row-major or otherwise dense output that starts at `first` of an axis.
IntrusivePtr<TensorImpl> part_of(const TensorImpl& out, int64_t axis, int64_t first,
                                 const Shape& shape) {
  IntrusivePtr<TensorImpl> part = TensorImpl::create();
  part->meta = out.meta;
  part->meta.shape = shape;
  if (element_count(shape)) part->meta.offset += first * out.meta.strides[axis];
  part->alias(out.storage);
  return part;
}

// --- concat ---
void infer_concat(const InferContext& ctx) {
  if (ctx.inputs() == 0) fail_invalid("concat: no tensors; give at least one");
  const int64_t axis = ctx.attrs<AxisAttrs>().axis;
  Shape shape = ctx.in(0).shape;
  for (size_t k = 1; k < ctx.inputs(); ++k) {
    require_same_dtype(ctx, 0, k);
    const Shape& other = ctx.in(k).shape;
    if (other.size() != shape.size()) {
      fail_invalid("concat: dimensions differ: tensor 0 is {}, tensor {} is {}",
                   to_string(ctx.in(0).shape), k, to_string(other));
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      if (static_cast<int64_t>(i) == axis || other[i] == shape[i]) continue;
      fail_invalid("concat: sizes of axis {} differ: tensor 0 is {}, tensor {} is {} ({} != {})", i,
                   to_string(ctx.in(0).shape), k, to_string(other), shape[i], other[i]);
    }
    if (__builtin_add_overflow(shape[axis], other[axis], &shape[axis]))
      fail_invalid("concat: the sizes of axis {} are more than 63 bits count in all", axis);
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().shape = shape;
  ctx.out().strides = strides_like(ctx.in(0), shape);
}

void reference_concat(const KernelContext& ctx) {
  const int64_t axis = ctx.attrs<AxisAttrs>().axis;
  int64_t first = 0;
  for (size_t k = 0; k < ctx.inputs(); ++k) {
    const TensorImpl& in = ctx.in(k);
    copy_strided(*part_of(ctx.out(), axis, first, in.meta.shape), in);
    first += in.meta.shape[axis];
  }
}

void vjp_concat(VjpContext& ctx) {
  const int64_t axis = ctx.attrs<AxisAttrs>().axis;
  int64_t first = 0;
  for (size_t k = 0; k < ctx.inputs(); ++k) {
    const int64_t end = first + ctx.input_meta(k).shape[axis];
    if (ctx.needs(k)) ctx.set(k, slice(ctx.grad(), axis, first, end));
    first = end;
  }
}

void sample_concat(Samples& s) {
  s.add({s.spread({2, 3}), s.spread({4, 3}), s.spread({1, 3})}, AxisAttrs{0});
  s.add({s.spread({2, 3, 2}), transpose(s.spread({2, 2, 4}))}, AxisAttrs{1});
  s.add({permute(s.spread({1, 2, 2, 3}), {0, 3, 1, 2}), s.spread({1, 2, 2, 2})}, AxisAttrs{1});
  s.add({s.spread({3})}, AxisAttrs{0});
  s.add({s.spread({0, 2}), s.spread({3, 2})}, AxisAttrs{0});
}

const Op kConcat{.name = "concat",
                 .doc = "Tensors one after the other along an axis.",
                 .inputs = "tensors...",
                 .attrs = attr_info<AxisAttrs>,
                 .infer = infer_concat,
                 .vjp = vjp_concat,
                 .reference = reference_concat,
                 .samples = sample_concat};

// --- split ---
struct SplitAttrs {
  int64_t sections = 1;
  int64_t axis = 0;
  static auto fields() {
    return std::tuple{attr("sections", &SplitAttrs::sections, "the number of parts"),
                      attr("axis", &SplitAttrs::axis, "the axis that is cut")};
  }
};

void infer_split(const InferContext& ctx) {
  const SplitAttrs& a = ctx.attrs<SplitAttrs>();
  const TensorMeta& in = ctx.in(0);
  const int64_t size = in.shape[a.axis];
  if (a.sections < 1 || size % a.sections != 0) {
    fail_invalid("split: {} parts of axis {} of {}: {} is not divisible by {}; use split_sizes()",
                 a.sections, a.axis, to_string(in.shape), size, a.sections);
  }
  const int64_t part = size / a.sections;
  for (int64_t i = 0; i < a.sections; ++i) {
    TensorMeta& out = ctx.out(static_cast<size_t>(i));
    out = in;
    out.shape[a.axis] = part;
    if (in.size()) out.offset += i * part * in.strides[a.axis];
  }
}

void vjp_split(VjpContext& ctx) {
  const SplitAttrs& a = ctx.attrs<SplitAttrs>();
  const TensorMeta& part = ctx.output_meta(0);
  Tensor zeros;
  std::vector<Tensor> grads;
  for (size_t i = 0; i < static_cast<size_t>(a.sections); ++i) {
    if (!ctx.has_grad(i) && !zeros.defined()) {
      zeros = Tensor::zeros(part.shape, {part.dtype, part.device});
    }
    grads.push_back(ctx.has_grad(i) ? ctx.grad(i) : zeros);
  }
  ctx.set(0, concat(grads, a.axis));
}

void sample_split(Samples& s) {
  s.add({s.spread({6, 2})}, SplitAttrs{3, 0});
  s.add({transpose(s.spread({4, 3}))}, SplitAttrs{2, 1});
  s.add({s.spread({3})}, SplitAttrs{1, 0});
  s.add({s.spread({2, 0})}, SplitAttrs{2, 1});
}

const Op kSplit{.name = "split",
                .doc = "Equal parts along an axis, without a copy.",
                .inputs = "x",
                .attrs = attr_info<SplitAttrs>,
                .flags = {.view = true},
                .outputs = Op::kVariableOutputs,
                .output_count =
                    [](const void* attrs) {
                      return static_cast<size_t>(static_cast<const SplitAttrs*>(attrs)->sections);
                    },
                .infer = infer_split,
                .vjp = vjp_split,
                .samples = sample_split};

// --- pad with a constant ---
struct PadAttrs {
  Dims before;
  Dims after;
  double value = 0;
  static auto fields() {
    return std::tuple{attr("before", &PadAttrs::before, "elements before each axis"),
                      attr("after", &PadAttrs::after, "elements after each axis"),
                      attr("value", &PadAttrs::value, "of the new elements")};
  }
};

void check_widths(const char* side, const Dims& widths, const Shape& x) {
  bool good = widths.size() == x.size();
  for (int64_t width : widths) good = good && width >= 0;
  if (!good) {
    fail_invalid("pad: {} {} for x {}; give one number >= 0 for each axis", side, to_string(widths),
                 to_string(x));
  }
}

void infer_pad(const InferContext& ctx) {
  const PadAttrs& a = ctx.attrs<PadAttrs>();
  Shape shape = ctx.in(0).shape;
  check_widths("before", a.before, shape);
  check_widths("after", a.after, shape);
  // Kernels do not throw: a value that the dtype cannot hold is found here.
  if (!is_floating(ctx.in(0).dtype)) Tensor::full({}, a.value, {ctx.in(0).dtype, Device::cpu()});
  for (size_t i = 0; i < shape.size(); ++i) {
    if (__builtin_add_overflow(shape[i], a.before[i], &shape[i]) ||
        __builtin_add_overflow(shape[i], a.after[i], &shape[i])) {
      fail_invalid("pad: {} and {} elements at axis {} of x {} are more than 63 bits count",
                   a.before[i], a.after[i], i, to_string(ctx.in(0).shape));
    }
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().shape = shape;
  ctx.out().strides = strides_like(ctx.in(0), shape);
}

void reference_pad(const KernelContext& ctx) {
  const PadAttrs& a = ctx.attrs<PadAttrs>();
  const Tensor value = Tensor::full({}, a.value, {ctx.out().meta.dtype, Device::cpu()});
  fill_elements(ctx.out(), value.impl()->data);
  IntrusivePtr<TensorImpl> middle = TensorImpl::create();
  middle->meta = ctx.out().meta;
  middle->meta.shape = ctx.in(0).meta.shape;
  if (ctx.in(0).meta.size() == 0) return;
  for (size_t i = 0; i < a.before.size(); ++i) {
    middle->meta.offset += a.before[i] * middle->meta.strides[i];
  }
  middle->alias(ctx.out().storage);
  copy_strided(*middle, ctx.in(0));
}

void vjp_pad(VjpContext& ctx) {
  const PadAttrs& a = ctx.attrs<PadAttrs>();
  Tensor g = ctx.grad();
  for (size_t i = 0; i < a.before.size(); ++i) {
    if (a.before[i] + a.after[i] == 0) continue;
    g = slice(g, static_cast<int64_t>(i), a.before[i], a.before[i] + ctx.input_meta(0).shape[i]);
  }
  ctx.set(0, g);
}

void sample_pad(Samples& s) {
  s.add({s.spread({2, 3})}, PadAttrs{{1, 0}, {0, 2}, 1.5});
  s.add({permute(s.spread({1, 3, 2, 2}), {0, 3, 1, 2})}, PadAttrs{{0, 0, 1, 2}, {0, 1, 1, 0}, 0});
  s.add({s.spread({0, 2})}, PadAttrs{{1, 0}, {1, 1}, -1});
  s.add({s.spread({})}, PadAttrs{});
}

const Op kPad{.name = "pad",
              .doc = "x with elements of one value added at the ends of its axes.",
              .inputs = "x",
              .attrs = attr_info<PadAttrs>,
              .infer = infer_pad,
              .vjp = vjp_pad,
              .reference = reference_pad,
              .samples = sample_pad};

// Positions that reflect or edge padding takes its elements from.
Tensor padding_positions(const Tensor& x, int64_t axis, int64_t before, int64_t after,
                         PadMode mode) {
  const int64_t size = x.shape()[axis];
  constexpr int64_t kMost = int64_t{1} << 60;  // so that no sum overflows
  const int64_t most = mode == PadMode::reflect ? size - 1 : size ? kMost : 0;
  if (std::max(before, after) > most) {
    fail_invalid("pad: {} padding of {} and {} on axis {} of x {}; at most {}",
                 mode == PadMode::reflect ? "reflect" : "edge", before, after, axis,
                 to_string(x.shape()), std::max<int64_t>(most, 0));
  }
  Tensor positions = Tensor::empty({before + size + after}, {DType::i64});
  int64_t* to = positions.mutable_data<int64_t>();
  for (int64_t i = -before; i < size + after; ++i) {
    const int64_t last = size - 1;
    if (mode == PadMode::edge)
      *to++ = std::clamp<int64_t>(i, 0, last);
    else
      *to++ = i < 0 ? -i : i > last ? 2 * last - i : i;
  }
  return positions.to(x.device());
}

// [before, size, after] of an axis: the three sizes that a line-wise op sees.
Shape around(const Shape& shape, int64_t axis) {
  Shape result{1, shape[axis], 1};
  for (int64_t i = 0; i < axis; ++i) result[0] *= shape[i];
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) result[2] *= shape[i];
  return result;
}

// A new axis put at `at` of [before, size, after], repeated, and joined with the axis beside it.
Tensor repeat_lines(const Tensor& x, int64_t axis, int64_t times, size_t at) {
  if (times < 0) fail_invalid("repeat: {} times along axis {}; give 0 or more", times, axis);
  Shape lines = around(x.shape(), axis), repeated, result = x.shape();
  lines.insert(at, 1);
  repeated = lines;
  repeated[at] = times;
  if (__builtin_mul_overflow(result[axis], times, &result[axis])) {
    fail_invalid("repeat: {} times axis {} of x {} is more than 63 bits count", times, axis,
                 to_string(x.shape()));
  }
  return reshape(broadcast_to(reshape(x, lines), repeated), result);
}

Tensor triangle(const char* name, const Tensor& x, int64_t diagonal, bool lower) {
  if (x.dims() < 2) {
    fail_invalid("{}: x {} has fewer than 2 dimensions", name, to_string(x.shape()));
  }
  const Tensor row = reshape(arange(x.size(-2), {DType::i64, x.device()}), {-1, 1});
  const Tensor column = arange(x.size(-1), {DType::i64, x.device()});
  const Tensor offset = column - row;
  const double bound = static_cast<double>(std::clamp(diagonal, -x.size(-2), x.size(-1)));
  return where(lower ? offset <= bound : offset >= bound, x, 0.0);
}

Tensor call_concat(std::span<const Tensor> tensors, int64_t axis) {
  std::vector<const TensorImpl*> impls;
  for (const Tensor& t : tensors) impls.push_back(t.impl());
  const AxisAttrs attrs{axis};
  return call_one(kConcat, &attrs, impls);
}

size_t dims_of_first(const char* name, std::span<const Tensor> tensors) {
  if (tensors.empty()) fail_invalid("{}: no tensors; give at least one", name);
  for (const Tensor& t : tensors) {
    if (!t.defined()) fail_invalid("{}: a tensor is undefined", name);
  }
  return tensors[0].shape().size();
}

}  // namespace

Tensor concat(std::span<const Tensor> tensors, int64_t axis) {
  const size_t n = dims_of_first("concat", tensors);
  if (n == 0) fail_invalid("concat: tensors of 0 dimensions; use stack()");
  const int64_t normal = normalize_axis("concat", axis, n);
  DType common = tensors[0].dtype();
  bool differ = false;
  for (const Tensor& t : tensors) {
    differ = differ || t.dtype() != common;
    common = promote(common, t.dtype());
  }
  if (!differ) return call_concat(tensors, normal);
  std::vector<Tensor> converted;
  for (const Tensor& t : tensors) converted.push_back(cast(t, common));
  return call_concat(converted, normal);
}

Tensor stack(std::span<const Tensor> tensors, int64_t axis) {
  const size_t n = dims_of_first("stack", tensors);
  const int64_t normal = normalize_axis("stack", axis, n + 1);
  std::vector<Tensor> expanded;
  for (const Tensor& t : tensors) {
    if (t.shape() != tensors[0].shape()) {
      fail_invalid("stack: shapes differ: {} and {}", to_string(tensors[0].shape()),
                   to_string(t.shape()));
    }
    expanded.push_back(expand_dims(t, normal));
  }
  return concat(expanded, normal);
}

std::vector<Tensor> split(const Tensor& x, int64_t sections, int64_t axis) {
  const int64_t normal = normalize_axis("split", axis, x.shape().size());
  if (sections < 1) fail_invalid("split: {} parts; give 1 or more", sections);
  const SplitAttrs attrs{sections, normal};
  const TensorImpl* const in[] = {x.impl()};
  return call_many(kSplit, &attrs, in);
}

std::vector<Tensor> split_sizes(const Tensor& x, std::span<const int64_t> sizes, int64_t axis) {
  const int64_t normal = normalize_axis("split_sizes", axis, x.shape().size());
  int64_t first = 0;
  std::vector<Tensor> parts;
  for (int64_t size : sizes) {
    if (size < 0) fail_invalid("split_sizes: size {} is negative", size);
    if (size > x.shape()[normal] - first) {
      fail_invalid("split_sizes: sizes up to {} go beyond axis {} of x {}", size, normal,
                   to_string(x.shape()));
    }
    parts.push_back(slice(x, normal, first, first + size));
    first += size;
  }
  if (first != x.shape()[normal]) {
    fail_invalid("split_sizes: the sizes sum to {}, axis {} of x {} has {}", first, normal,
                 to_string(x.shape()), x.shape()[normal]);
  }
  return parts;
}

Tensor pad(const Tensor& x, const Dims& before, const Dims& after, PadMode mode, double value) {
  if (mode == PadMode::constant) return call(kPad, PadAttrs{before, after, value}, x);
  check_widths("before", before, x.shape());
  check_widths("after", after, x.shape());
  Tensor result = x;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] == 0 && after[i] == 0) continue;
    const int64_t axis = static_cast<int64_t>(i);
    result = take(result, padding_positions(result, axis, before[i], after[i], mode), axis);
  }
  return result;
}

Tensor flip(const Tensor& x, const Dims& axes) {
  Dims all = axes;
  for (int64_t i = 0; axes.empty() && i < x.dims(); ++i) all.push_back(i);
  Tensor result = x;
  for (int64_t axis : all) result = slice(result, axis, Slice::kOpen, Slice::kOpen, -1);
  return result;
}

Tensor tile(const Tensor& x, const Dims& repeats) {
  Shape shape = x.shape();
  Dims times = repeats;
  while (shape.size() < times.size()) shape.insert(0, 1);
  while (times.size() < shape.size()) times.insert(0, 1);
  Tensor result = reshape(x, shape);
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] != 1) result = repeat_lines(result, static_cast<int64_t>(i), times[i], 1);
  }
  return result;
}

Tensor repeat(const Tensor& x, int64_t times, int64_t axis) {
  return repeat_lines(x, normalize_axis("repeat", axis, x.shape().size()), times, 2);
}

Tensor roll(const Tensor& x, int64_t shift, int64_t axis) {
  const int64_t normal = normalize_axis("roll", axis, x.shape().size());
  const int64_t size = x.shape()[normal];
  if (size == 0) return x;
  const int64_t cut = (size - shift % size) % size;
  if (cut == 0) return x;
  return concat({slice(x, normal, cut, size), slice(x, normal, 0, cut)}, normal);
}

Tensor tril(const Tensor& x, int64_t diagonal) { return triangle("tril", x, diagonal, true); }
Tensor triu(const Tensor& x, int64_t diagonal) { return triangle("triu", x, diagonal, false); }

std::span<const Op* const> shape_rows() {
  static constexpr const Op* rows[] = {&kConcat, &kSplit, &kPad};
  return rows;
}

}  // namespace thalweg
