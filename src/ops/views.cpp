#include <algorithm>
#include <cstdlib>
#include <limits>

#include <thalweg/ops/call.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/samples.h"
#include "ops/table.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

void sample_broadcast_to(Samples& s);
void sample_permute(Samples& s);
void sample_reshape(Samples& s);
void sample_slice(Samples& s);

// --- broadcast_to ---
struct ShapeAttrs {
  Dims shape;
  static auto fields() { return std::tuple{attr("shape", &ShapeAttrs::shape, "the new shape")}; }
};

void infer_broadcast_to(const InferContext& ctx) {
  const TensorMeta& in = ctx.in(0);
  const Shape& shape = ctx.attrs<ShapeAttrs>().shape;
  checked_element_count("broadcast_to", shape, item_size(in.dtype));
  if (!(broadcast_shapes("broadcast_to", in.shape, shape) == shape)) {
    fail_invalid("broadcast_to: shape {} cannot be repeated to {}", to_string(in.shape),
                 to_string(shape));
  }
  TensorMeta& out = ctx.out();
  out.dtype = in.dtype;
  out.shape = shape;
  out.strides = Dims(shape.size(), 0);
  out.offset = in.offset;
  const size_t skip = shape.size() - in.shape.size();
  for (size_t i = 0; i < in.shape.size(); ++i) {
    out.strides[skip + i] = in.shape[i] == shape[skip + i] ? in.strides[i] : 0;
  }
}

const Op kBroadcastTo{
    .name = "broadcast_to",
    .doc = "Repeats dimensions of size 1, without a copy.",
    .inputs = "x",
    .attrs = attr_info<ShapeAttrs>,
    .flags = {.view = true},
    .infer = infer_broadcast_to,
    .vjp = [](VjpContext& ctx) { ctx.set(0, sum_to(ctx.grad(), ctx.input_meta(0).shape)); },
    .samples = sample_broadcast_to};

// --- permute ---
struct PermuteAttrs {
  Dims axes;
  static auto fields() {
    return std::tuple{attr("axes", &PermuteAttrs::axes, "axis of x that each new axis was")};
  }
};

void infer_permute(const InferContext& ctx) {
  const TensorMeta& in = ctx.in(0);
  const Dims& axes = ctx.attrs<PermuteAttrs>().axes;
  TensorMeta& out = ctx.out();
  out.dtype = in.dtype;
  out.offset = in.offset;
  out.shape = Shape(axes.size(), 0);
  out.strides = Dims(axes.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    out.shape[i] = in.shape[axes[i]];
    out.strides[i] = in.strides[axes[i]];
  }
}

const Op kPermute{.name = "permute",
                  .doc = "Reorders the axes, without a copy.",
                  .inputs = "x",
                  .attrs = attr_info<PermuteAttrs>,
                  .flags = {.view = true},
                  .infer = infer_permute,
                  .vjp =
                      [](VjpContext& ctx) {
                        const Dims& axes = ctx.attrs<PermuteAttrs>().axes;
                        Dims inverse(axes.size(), 0);
                        for (size_t i = 0; i < axes.size(); ++i) {
                          inverse[axes[i]] = static_cast<int64_t>(i);
                        }
                        ctx.set(0, permute(ctx.grad(), inverse));
                      },
                  .samples = sample_permute};

// --- reshape ---

// Strides that show `in` in another shape without moving elements; false where there are none.
bool reshape_strides(const TensorMeta& in, const Shape& shape, Dims& strides) {
  strides = row_major_strides(shape);
  if (in.is_contiguous() || in.size() == 0) return true;
  // Groups of old dimensions that lie without jumps must be cut into whole new dimensions.
  size_t old_end = in.shape.size(), new_end = shape.size();
  while (old_end > 0 || new_end > 0) {
    size_t old_begin = old_end, new_begin = new_end;
    int64_t old_count = 1, new_count = 1;
    while (old_begin > 0 && (old_count == 1 || old_count < new_count)) {
      old_count *= in.shape[--old_begin];
    }
    do {
      while (new_begin > 0 && new_count < old_count) new_count *= shape[--new_begin];
      while (old_begin > 0 && old_count < new_count) old_count *= in.shape[--old_begin];
    } while (old_count != new_count);
    while (old_begin > 0 && in.shape[old_begin - 1] == 1) --old_begin;
    while (new_begin > 0 && shape[new_begin - 1] == 1) --new_begin;
    int64_t stride = 0;
    bool first = true;
    for (size_t i = old_end; i-- > old_begin;) {
      if (in.shape[i] == 1) continue;
      if (!first && in.strides[i] != stride) return false;
      if (first) {
        int64_t next = in.strides[i];
        for (size_t j = new_end; j-- > new_begin;) {
          strides[j] = next;
          next *= shape[j];
        }
      }
      first = false;
      stride = in.strides[i] * in.shape[i];
    }
    old_end = old_begin;
    new_end = new_begin;
  }
  return true;
}

void infer_reshape(const InferContext& ctx) {
  const TensorMeta& in = ctx.in(0);
  TensorMeta& out = ctx.out();
  out.dtype = in.dtype;
  out.offset = in.offset;
  out.shape = ctx.attrs<ShapeAttrs>().shape;
  THALWEG_ASSERT(reshape_strides(in, out.shape, out.strides));
}

const Op kReshape{
    .name = "reshape",
    .doc = "The same elements in another shape, without a copy; made by reshape().",
    .inputs = "x",
    .attrs = attr_info<ShapeAttrs>,
    .flags = {.view = true},
    .infer = infer_reshape,
    .vjp = [](VjpContext& ctx) { ctx.set(0, reshape(ctx.grad(), ctx.input_meta(0).shape)); },
    .samples = sample_reshape};

// The largest number where the count does not fit.
int64_t saturated_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) count = std::numeric_limits<int64_t>::max();
  }
  return count;
}

Shape resolve_shape(const TensorMeta& in, Shape shape) {
  const int64_t size = in.size();
  int64_t unknown = -1;
  Shape others;
  bool negative = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && unknown < 0) {
      unknown = static_cast<int64_t>(i);
    } else {
      others.push_back(shape[i]);
      negative = negative || shape[i] < 0;
    }
  }
  const int64_t known = negative ? -1 : saturated_count(others);
  if (unknown >= 0 && known > 0 && size % known == 0)
    shape[unknown] = size / known;
  else if (unknown >= 0 || known != size) {
    fail_invalid("reshape: {} elements of shape {} do not fill shape {}", size, to_string(in.shape),
                 to_string(shape));
  }
  return shape;
}

// --- slice, and its gradient unslice ---
struct SliceAttrs {
  int64_t axis = 0;
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;
  int64_t size = 0;
  static auto fields() {
    return std::tuple{attr("axis", &SliceAttrs::axis, "the axis that is cut"),
                      attr("start", &SliceAttrs::start, "the first position"),
                      attr("count", &SliceAttrs::count, "how many positions"),
                      attr("step", &SliceAttrs::step, "distance between positions"),
                      attr("size", &SliceAttrs::size, "size of the axis before the cut")};
  }
};

void cut(TensorMeta& meta, const SliceAttrs& a) {
  if (a.count) meta.offset += meta.strides[a.axis] * a.start;
  meta.shape[a.axis] = a.count;
  meta.strides[a.axis] *= a.step;
}

void infer_slice(const InferContext& ctx) {
  ctx.out() = ctx.in(0);
  cut(ctx.out(), ctx.attrs<SliceAttrs>());
}

void infer_unslice(const InferContext& ctx) {
  Shape shape = ctx.in(0).shape;
  const SliceAttrs& a = ctx.attrs<SliceAttrs>();
  shape[a.axis] = a.size;
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(shape);
}

void reference_unslice(const KernelContext& ctx) {
  fill_bytes_zero(ctx.out());
  IntrusivePtr<TensorImpl> target = TensorImpl::create();
  target->meta = ctx.out().meta;
  cut(target->meta, ctx.attrs<SliceAttrs>());
  target->alias(ctx.out().storage);
  copy_strided(*target, ctx.in(0));
}

void vjp_slice(VjpContext& ctx);

const Op kSlice{.name = "slice",
                .doc = "Evenly spaced positions of one axis, without a copy; made by slice().",
                .inputs = "x",
                .attrs = attr_info<SliceAttrs>,
                .flags = {.view = true},
                .infer = infer_slice,
                .vjp = vjp_slice,
                .samples = sample_slice};

const Op kUnslice{
    .name = "unslice",
    .doc = "Puts elements at evenly spaced positions of one axis of zeros; the gradient of slice.",
    .inputs = "x",
    .attrs = attr_info<SliceAttrs>,
    .flags = {.internal = true},
    .infer = infer_unslice,
    .vjp = [](VjpContext& ctx) { ctx.set(0, call(kSlice, ctx.attrs<SliceAttrs>(), ctx.grad())); },
    .reference = reference_unslice};

void vjp_slice(VjpContext& ctx) { ctx.set(0, call(kUnslice, ctx.attrs<SliceAttrs>(), ctx.grad())); }

// --- contiguous ---
void infer_contiguous(const InferContext& ctx) {
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(ctx.in(0).shape);
}

const Op kContiguous{
    .name = "contiguous",
    .doc = "A row-major copy of the elements.",
    .inputs = "x",
    .infer = infer_contiguous,
    .vjp = [](VjpContext& ctx) { ctx.set(0, ctx.grad()); },
    .reference = [](const KernelContext& ctx) { copy_strided(ctx.out(), ctx.in(0)); },
    .samples = sample_unary};

void sample_broadcast_to(Samples& s) {
  s.add({s.spread({3, 1})}, ShapeAttrs{{2, 3, 4}});
  s.add({s.spread({})}, ShapeAttrs{{5}});
  s.add({s.spread({1, 2})}, ShapeAttrs{{0, 2}});
}

void sample_permute(Samples& s) {
  s.add({s.spread({2, 3, 4})}, PermuteAttrs{{2, 0, 1}});
  s.add({s.spread({})}, PermuteAttrs{});
  s.add({s.spread({0, 3})}, PermuteAttrs{{1, 0}});
}

void sample_reshape(Samples& s) {
  s.add({s.spread({2, 3, 4})}, ShapeAttrs{{6, 4}});
  s.add({s.spread({1})}, ShapeAttrs{});
  s.add({s.spread({0, 3})}, ShapeAttrs{{3, 0, 2}});
}

void sample_slice(Samples& s) {
  s.add({s.spread({5, 3})}, SliceAttrs{0, 1, 3, 1, 5});
  s.add({s.spread({2, 7})}, SliceAttrs{1, 6, 3, -2, 7});
  s.add({s.spread({4})}, SliceAttrs{0, 0, 0, 1, 4});
}

// Python's rule for the ends of a range.
int64_t clamp_position(int64_t position, int64_t size, int64_t low, int64_t high) {
  if (position < 0) position += size;
  return std::clamp(position, low, high);
}

}  // namespace

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.defined() && x.shape() == shape) return x;
  return call(kBroadcastTo, ShapeAttrs{shape}, x);
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const size_t extra = x.shape().size() - shape.size();
  Dims axes;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    const bool repeated = i < extra || (shape[i - extra] == 1 && x.shape()[i] != 1);
    if (repeated) axes.push_back(static_cast<int64_t>(i));
  }
  return reshape(sum(x, axes, true), shape);
}

Tensor permute(const Tensor& x, const Dims& axes) {
  Dims normal = axes;
  Dims seen(x.shape().size(), 0);
  bool good = axes.size() == x.shape().size();
  for (int64_t& axis : normal) {
    axis = normalize_axis("permute", axis, x.shape().size());
    good = good && seen[axis]++ == 0;
  }
  if (!good) {
    fail_invalid("permute: axes {} are not each axis of shape {} once", to_string(axes),
                 to_string(x.shape()));
  }
  return call(kPermute, PermuteAttrs{normal}, x);
}

Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  const size_t n = x.shape().size();
  Dims axes(n, 0);
  for (size_t i = 0; i < n; ++i) axes[i] = static_cast<int64_t>(i);
  std::swap(axes[normalize_axis("transpose", a, n)], axes[normalize_axis("transpose", b, n)]);
  return call(kPermute, PermuteAttrs{axes}, x);
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape target = resolve_shape(x.meta(), shape);
  if (target == x.shape()) return x;
  Dims strides;
  if (!reshape_strides(x.meta(), target, strides)) {
    return call(kReshape, ShapeAttrs{target}, contiguous(x));
  }
  return call(kReshape, ShapeAttrs{target}, x);
}

Tensor flatten(const Tensor& x, int64_t start_axis) {
  const size_t n = x.shape().size();
  const size_t first = n ? static_cast<size_t>(normalize_axis("flatten", start_axis, n)) : 0;
  Shape shape(std::span<const int64_t>(x.shape()).first(first));
  int64_t rest = 1;
  for (size_t i = first; i < n; ++i) rest *= x.shape()[i];
  shape.push_back(rest);
  return reshape(x, shape);
}

Tensor slice(const Tensor& x, int64_t axis, int64_t start, int64_t stop, int64_t step) {
  if (step == 0) fail_invalid("slice: step is 0; give a positive or negative step");
  SliceAttrs a;
  a.axis = normalize_axis("slice", axis, x.shape().size());
  a.size = x.shape()[a.axis];
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? a.size : a.size - 1;
  a.start =
      start == Slice::kOpen ? (step > 0 ? low : high) : clamp_position(start, a.size, low, high);
  const int64_t end =
      stop == Slice::kOpen ? (step > 0 ? high : low) : clamp_position(stop, a.size, low, high);
  const int64_t distance = step > 0 ? end - a.start : a.start - end;
  // Longer steps than the axis all mean the same; with these nothing overflows.
  a.step = std::clamp(step, -std::max<int64_t>(a.size, 1), std::max<int64_t>(a.size, 1));
  const int64_t stride = std::abs(a.step);
  a.count = distance > 0 ? (distance + stride - 1) / stride : 0;
  return call(kSlice, a, x);
}

Tensor expand_dims(const Tensor& x, int64_t axis) {
  Shape shape = x.shape();
  shape.insert(static_cast<size_t>(normalize_axis("expand_dims", axis, shape.size() + 1)), 1);
  return reshape(x, shape);
}

Tensor squeeze(const Tensor& x, const Dims& axes) {
  const Shape& shape = x.shape();
  Dims drop(shape.size(), 0);
  for (size_t i = 0; i < shape.size() && axes.empty(); ++i) drop[i] = shape[i] == 1;
  for (int64_t axis : axes) {
    const int64_t at = normalize_axis("squeeze", axis, shape.size());
    if (shape[at] != 1) {
      fail_invalid("squeeze: axis {} of shape {} has size {}, not 1", axis, to_string(shape),
                   shape[at]);
    }
    drop[at] = 1;
  }
  Shape kept;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!drop[i]) kept.push_back(shape[i]);
  }
  return reshape(x, kept);
}

Tensor contiguous(const Tensor& x) {
  return x.is_contiguous() ? x : call(kContiguous, NoAttrs{}, x);
}

Tensor Tensor::clone() const { return call(kContiguous, NoAttrs{}, *this); }
Tensor Tensor::contiguous() const { return thalweg::contiguous(*this); }
Tensor Tensor::reshape(const Shape& shape) const { return thalweg::reshape(*this, shape); }
Tensor Tensor::transpose(int64_t a, int64_t b) const { return thalweg::transpose(*this, a, b); }
Tensor Tensor::permute(const Dims& axes) const { return thalweg::permute(*this, axes); }

std::span<const Op* const> view_rows() {
  static constexpr const Op* rows[] = {&kBroadcastTo, &kPermute, &kReshape,
                                       &kSlice,       &kUnslice, &kContiguous};
  return rows;
}

}  // namespace thalweg
