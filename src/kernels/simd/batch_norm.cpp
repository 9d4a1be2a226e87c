// Batch norm of two layouts: channels innermost in memory (rows of columns), or planes of elements
// of one channel each.

#include <algorithm>
#include <cmath>

#include <thalweg/base/threads.h>

#include "kernels/simd/norm.h"
#include "kernels/simd/norm_layout.h"
#include "ops/compose.h"
#include "ops/norm.h"

namespace thalweg::simd {
namespace {

NormTable g_table;

// x in memory: `planes` times `channels` runs of `run` elements; run is 1 and planes are rows where
// channels are innermost.
struct Layout {
  int64_t planes = 0;
  int64_t channels = 0;
  int64_t run = 0;  // 0: a layout that has no kernel

  bool is_columns() const { return run == 1; }
};

Layout layout_of(const TensorMeta& x, const BatchNormAttrs& attrs) {
  const auto axis = static_cast<size_t>(
      attrs.axis < 0 ? attrs.axis + static_cast<int64_t>(x.shape.size()) : attrs.axis);
  const int64_t channels = x.shape[axis], size = x.size();
  if (size == 0) return {};
  if (x.is_dense() && x.strides[axis] == 1) return {size / channels, channels, 1};
  if (!x.is_contiguous()) return {};
  return {size / channels / x.strides[axis], channels, x.strides[axis]};
}

constexpr const char* kLayoutReason =
    "x must be row-major or have its channels innermost, without gaps, like the gradient";

// x is input `at`; the parameters are behind it.
const char* refuse(const KernelContext& ctx, size_t at) {
  const TensorMeta& x = ctx.in(at).meta;
  if (layout_of(x, ctx.attrs<BatchNormAttrs>()).run == 0) return kLayoutReason;
  if (!same_places(x, ctx.out().meta)) return kLayoutReason;
  for (size_t i = 0; i < at; ++i) {
    if (!same_places(x, ctx.in(i).meta)) return kLayoutReason;
  }
  for (size_t i = at + 1; i < ctx.inputs(); ++i) {
    if (ctx.has(i) && !ctx.in(i).meta.is_contiguous()) return "parameters must be row-major";
  }
  return nullptr;
}

const char* refuse_forward(const KernelContext& ctx) { return refuse(ctx, 0); }
const char* refuse_backward(const KernelContext& ctx) { return refuse(ctx, 1); }

// x in parts that threads take: rows of all channels, or a plane with a run of each channel. Two
// numbers for each part and channel join in the order of the parts.
class Parts {
 public:
  explicit Parts(const Layout& layout)
      : layout_(layout),
        rows_(layout.is_columns() ? std::max<int64_t>(1, kNormTileElements / layout.channels) : 1),
        count_((layout.planes + rows_ - 1) / rows_),
        numbers_(2 * count_ * layout.channels, 0.0) {}

  /// Calls f(part, first element, rows, n, first channel).
  template <typename F>
  void for_each(F&& f) const {
    const Layout& l = layout_;
    const double ns = kNormElementNs * static_cast<double>(rows_ * l.channels * l.run);
    parallel_tiles(count_, ns, [&](int64_t part) {
      if (l.is_columns()) return f(part, part * rows_ * l.channels, rows_of(part), l.channels, 0);
      for (int64_t c = 0; c < l.channels; ++c) {
        f(part, (part * l.channels + c) * l.run, int64_t{1}, l.run, c);
      }
    });
  }
  int64_t count() const { return count_; }
  double* first(int64_t part, int64_t c) const {
    return numbers_.data() + 2 * part * layout_.channels + c;
  }
  double* second(int64_t part, int64_t c) const { return first(part, c) + layout_.channels; }
  /// Of each channel.
  double elements_of(int64_t part) const {
    return static_cast<double>(layout_.is_columns() ? rows_of(part) : layout_.run);
  }

 private:
  int64_t rows_of(int64_t part) const { return std::min(rows_, layout_.planes - part * rows_); }

  Layout layout_;
  int64_t rows_;
  int64_t count_;
  Scratch<double> numbers_;
};

// The arrays of NormParameters that a kernel fills, as from channel c on.
struct ChannelArrays {
  NormArray mean, rate, scale, bias, mean_gradient, mean_product;

  ChannelArrays(DType x, int64_t n)
      : mean(x, n), rate(x, n), scale(x, n), bias(x, n), mean_gradient(x, n), mean_product(x, n) {}
  NormParameters from(int64_t c, bool repeated) const {
    return {mean.data(c),          rate.data(c),         scale.data(c), bias.data(c),
            mean_gradient.data(c), mean_product.data(c), repeated};
  }
};

// scale = weight * rate, and bias, from input `first` and the next.
void set_affine(const KernelContext& ctx, size_t first, ChannelArrays& arrays,
                const Scratch<double>& rates) {
  for (int64_t c = 0; c < rates.size(); ++c) {
    arrays.rate.set(c, rates[c]);
    arrays.scale.set(c, rates[c]);
    arrays.bias.set(c, 0);
  }
  if (ctx.has(first)) {
    for_each_value(ctx.in(first),
                   [&](int64_t c, double weight) { arrays.scale.set(c, rates[c] * weight); });
  }
  if (ctx.has(first + 1)) {
    for_each_value(ctx.in(first + 1), [&](int64_t c, double bias) { arrays.bias.set(c, bias); });
  }
}

void apply(const KernelContext& ctx, const Layout& layout, const ChannelArrays& arrays) {
  const NormFns& fns = g_table.by_dtype[static_cast<int>(ctx.in(0).meta.dtype)];
  Parts(layout).for_each([&](int64_t, int64_t at, int64_t rows, int64_t n, int64_t c) {
    fns.apply(byte_at(ctx.in(0), at), byte_at(ctx.out(), at), rows, n,
              arrays.from(c, !layout.is_columns()));
  });
}

// Mean and variance of each channel, and 1 / sqrt(variance + epsilon).
void measure(const KernelContext& ctx, const Layout& layout, double epsilon, ChannelArrays& arrays,
             Scratch<double>& rates) {
  const TensorImpl& x = ctx.in(0);
  const NormFns& fns = g_table.by_dtype[static_cast<int>(x.meta.dtype)];
  const Parts parts(layout);
  parts.for_each([&](int64_t part, int64_t at, int64_t rows, int64_t n, int64_t c) {
    if (layout.is_columns())
      fns.column_moments(byte_at(x, at), rows, n, parts.first(part, 0), parts.second(part, 0));
    else
      fns.run_moments(byte_at(x, at), n, parts.first(part, c), parts.second(part, c));
  });
  Scratch<double> means(layout.channels, 0.0), variances(layout.channels, 0.0);
  for (int64_t c = 0; c < layout.channels; ++c) {
    double count = 0;
    for (int64_t p = 0; p < parts.count(); ++p) {
      join_moments(means[c], variances[c], count, *parts.first(p, c), *parts.second(p, c),
                   parts.elements_of(p));
      count += parts.elements_of(p);
    }
    variances[c] /= count;
    arrays.mean.set(c, means[c]);
    rates[c] = 1 / std::sqrt(variances[c] + epsilon);
  }
  set_each_value(ctx.out(1), [&](int64_t c) { return means[c]; });
  set_each_value(ctx.out(2), [&](int64_t c) { return variances[c]; });
}

void run_forward(const KernelContext& ctx) {
  const auto& attrs = ctx.attrs<BatchNormAttrs>();
  const Layout layout = layout_of(ctx.in(0).meta, attrs);
  ChannelArrays arrays(ctx.in(0).meta.dtype, layout.channels);
  Scratch<double> rates(layout.channels);
  measure(ctx, layout, attrs.epsilon, arrays, rates);
  set_affine(ctx, 1, arrays, rates);
  apply(ctx, layout, arrays);
}

// Inputs x, mean, var, weight, bias.
void run_inference(const KernelContext& ctx) {
  const auto& attrs = ctx.attrs<BatchNormAttrs>();
  const Layout layout = layout_of(ctx.in(0).meta, attrs);
  ChannelArrays arrays(ctx.in(0).meta.dtype, layout.channels);
  Scratch<double> rates(layout.channels);
  for_each_value(ctx.in(1), [&](int64_t c, double mean) { arrays.mean.set(c, mean); });
  for_each_value(ctx.in(2), [&](int64_t c, double variance) {
    rates[c] = 1 / std::sqrt(variance + attrs.epsilon);
  });
  set_affine(ctx, 3, arrays, rates);
  apply(ctx, layout, arrays);
}

// Inputs grad, x, weight, mean, var; outputs dx, dweight, dbias.
void run_backward(const KernelContext& ctx) {
  const auto& attrs = ctx.attrs<BatchNormAttrs>();
  const TensorImpl &grad = ctx.in(0), &x = ctx.in(1);
  const Layout layout = layout_of(x.meta, attrs);
  const NormFns& fns = g_table.by_dtype[static_cast<int>(x.meta.dtype)];
  ChannelArrays arrays(x.meta.dtype, layout.channels);
  Scratch<double> rates(layout.channels);
  for_each_value(ctx.in(3), [&](int64_t c, double mean) { arrays.mean.set(c, mean); });
  for_each_value(ctx.in(4), [&](int64_t c, double variance) {
    rates[c] = 1 / std::sqrt(variance + attrs.epsilon);
  });
  for (int64_t c = 0; c < layout.channels; ++c) arrays.scale.set(c, rates[c]);
  for (int64_t c = 0; c < layout.channels; ++c) arrays.rate.set(c, rates[c]);
  if (ctx.has(2)) {
    for_each_value(ctx.in(2),
                   [&](int64_t c, double weight) { arrays.scale.set(c, rates[c] * weight); });
  }

  const Parts parts(layout);
  const bool repeated = !layout.is_columns();
  parts.for_each([&](int64_t part, int64_t at, int64_t rows, int64_t n, int64_t c) {
    fns.gradient_sums(byte_at(grad, at), byte_at(x, at), rows, n, arrays.from(c, repeated),
                      parts.first(part, c), parts.second(part, c));
  });
  Scratch<double> sums(layout.channels, 0.0), products(layout.channels, 0.0);
  const auto elements = static_cast<double>(layout.planes * layout.run);
  for (int64_t c = 0; c < layout.channels; ++c) {
    for (int64_t p = 0; p < parts.count(); ++p) {
      sums[c] += *parts.first(p, c);
      products[c] += *parts.second(p, c);
    }
    arrays.mean_gradient.set(c, sums[c] / elements);
    arrays.mean_product.set(c, products[c] / elements);
  }
  set_each_value(ctx.out(1), [&](int64_t c) { return products[c]; });
  set_each_value(ctx.out(2), [&](int64_t c) { return sums[c]; });
  parts.for_each([&](int64_t, int64_t at, int64_t rows, int64_t n, int64_t c) {
    fns.gradient(byte_at(grad, at), byte_at(x, at), byte_at(ctx.out(), at), rows, n,
                 arrays.from(c, repeated));
  });
}

}  // namespace

void choose_batch_norm_target() { fill_norms(g_table); }

void register_batch_norm() {
  const auto add = [](const char* name, const char* (*refuses)(const KernelContext&),
                      void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cpu, {"simd", refuses, run});
  };
  add("batch_norm", refuse_forward, run_forward);
  add("batch_norm_inference", refuse_forward, run_inference);
  add("batch_norm_vjp", refuse_backward, run_backward);
}

}  // namespace thalweg::simd
