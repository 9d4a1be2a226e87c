#include "ops/conv.h"

#include <thalweg/ops/call.h>
#include <thalweg/ops/conv.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/conv_reference.h"
#include "ops/infer.h"
#include "ops/layout.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

// --- checks ---

// Of the first input and the settings that all three rows have; gives the number of spatial axes.
template <typename Attrs>
size_t check_settings(const InferContext& ctx, const Attrs& a) {
  require_floating(ctx, 0);
  require_same_dtype(ctx, 0, 1);
  const size_t axes = spatial_axes(ctx.op().name, ctx.in(0).shape);
  check_setting(ctx, "stride", a.stride, axes, 1);
  check_setting(ctx, "padding", a.padding, axes, 0);
  check_setting(ctx, "dilation", a.dilation, axes, 1);
  if (a.groups < 1) fail_invalid("{}: {} groups; give 1 or more", ctx.op().name, a.groups);
  return axes;
}

// Of the weight [O, C / groups, kernel...] against the channels of the first input, which are C in
// conv (channel_axis 1) and O in conv_transpose (channel_axis 0).
void check_weight(const InferContext& ctx, size_t axes, int64_t groups, size_t channel_axis) {
  const Shape &x = ctx.in(0).shape, &w = ctx.in(1).shape;
  if (w.size() != x.size()) {
    fail_invalid("{}: weight {} has {} spatial axes, x {} has {}", ctx.op().name, to_string(w),
                 w.size() < 2 ? 0 : w.size() - 2, to_string(x), axes);
  }
  const int64_t taken = channel_axis == 1 ? w[1] * groups : w[0];
  if (x[1] != taken) {
    fail_invalid("{}: x {} has {} channels, weight {} with {} groups takes {}", ctx.op().name,
                 to_string(x), x[1], to_string(w), groups, taken);
  }
  if (w[0] % groups != 0) {
    fail_invalid("{}: {} channels of weight {} do not divide into {} groups", ctx.op().name, w[0],
                 to_string(w), groups);
  }
  for (size_t i = 2; i < w.size(); ++i) {
    if (w[i] < 1) fail_invalid("{}: empty kernel; weight {}", ctx.op().name, to_string(w));
  }
}

void check_bias(const InferContext& ctx, int64_t channels) {
  if (!ctx.has(2)) return;
  require_same_dtype(ctx, 0, 2);
  const Shape& bias = ctx.in(2).shape;
  if (bias.size() != 1 || bias[0] != channels) {
    fail_invalid("{}: bias {} does not fit {} channels; expected [{}]", ctx.op().name,
                 to_string(bias), channels, channels);
  }
}

void set_output(const InferContext& ctx, const Shape& shape) {
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().shape = shape;
  ctx.out().strides = channels_last_strides(shape);
}

int64_t window_size(int64_t kernel, int64_t dilation) {
  return limited_product(dilation, kernel - 1) + 1;
}

// --- inference ---

void infer_conv(const InferContext& ctx) {
  const ConvAttrs& a = ctx.attrs<ConvAttrs>();
  const size_t axes = check_settings(ctx, a);
  check_weight(ctx, axes, a.groups, 1);
  const Shape &x = ctx.in(0).shape, &w = ctx.in(1).shape;
  check_bias(ctx, w[0]);
  Shape shape{x[0], w[0]};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t padded = x[i + 2] + 2 * a.padding[i];
    const int64_t window = window_size(w[i + 2], a.dilation[i]);
    if (window > padded) {
      fail_invalid(
          "conv: the kernel is larger than the padded input on axis {} ({} > {}); x {}, weight {}, "
          "padding {}, dilation {}",
          i + 2, window, padded, to_string(x), to_string(w), to_string(a.padding),
          to_string(a.dilation));
    }
    shape.push_back((padded - window) / a.stride[i] + 1);
  }
  set_output(ctx, shape);
}

void infer_conv_transpose(const InferContext& ctx) {
  const ConvTransposeAttrs& a = ctx.attrs<ConvTransposeAttrs>();
  const size_t axes = check_settings(ctx, a);
  check_setting(ctx, "output_padding", a.output_padding, axes, 0);
  check_weight(ctx, axes, a.groups, 0);
  const Shape &x = ctx.in(0).shape, &w = ctx.in(1).shape;
  check_bias(ctx, w[1] * a.groups);
  Shape shape{x[0], w[1] * a.groups};
  for (size_t i = 0; i < axes; ++i) {
    if (a.output_padding[i] >= a.stride[i]) {
      fail_invalid("conv_transpose: output_padding {} is not below stride {}",
                   to_string(a.output_padding), to_string(a.stride));
    }
    const int64_t size = limited_product(x[i + 2] - 1, a.stride[i]) +
                         window_size(w[i + 2], a.dilation[i]) - 2 * a.padding[i] +
                         a.output_padding[i];
    if (size < 0 || x[i + 2] == 0) {
      fail_invalid("conv_transpose: nothing is left of axis {} (size {}); x {}, weight {}, {}",
                   i + 2, size, to_string(x), to_string(w),
                   to_string(attr_info<ConvTransposeAttrs>(), &a));
    }
    shape.push_back(size);
  }
  set_output(ctx, shape);
}

void infer_conv_weight_gradient(const InferContext& ctx) {
  const ConvWeightAttrs& a = ctx.attrs<ConvWeightAttrs>();
  const size_t axes = check_settings(ctx, a);
  check_setting(ctx, "kernel", a.kernel, axes, 1);
  const Shape &x = ctx.in(0).shape, &g = ctx.in(1).shape;
  bool fits = g.size() == x.size() && g[0] == x[0] && x[1] % a.groups == 0 && g[1] % a.groups == 0;
  Shape shape{fits ? g[1] : 0, x[1] / a.groups};
  for (size_t i = 0; i < axes && fits; ++i) {
    const int64_t room = x[i + 2] + 2 * a.padding[i] - window_size(a.kernel[i], a.dilation[i]);
    fits = room >= 0 && g[i + 2] == room / a.stride[i] + 1;
    shape.push_back(a.kernel[i]);
  }
  if (!fits) {
    fail_invalid("conv_weight_gradient: g {} is no result of a convolution of x {} with {}",
                 to_string(g), to_string(x), to_string(attr_info<ConvWeightAttrs>(), &a));
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(shape);  // as the weight is
}

// --- gradients: each of the three is the derivative of the others ---

// What conv_transpose must add to give back the sizes of x.
Dims missing_rows(const Shape& x, const Shape& w, const Shape& y, const Dims& stride,
                  const Dims& padding, const Dims& dilation) {
  Dims missing;
  for (size_t i = 0; i < stride.size(); ++i) {
    missing.push_back(x[i + 2] - ((y[i + 2] - 1) * stride[i] + window_size(w[i + 2], dilation[i]) -
                                  2 * padding[i]));
  }
  return missing;
}

Dims spatial(const Shape& shape) { return Dims(std::span<const int64_t>(shape).subspan(2)); }

Tensor bias_gradient(const Tensor& g) {
  Dims axes{0};
  for (int64_t i = 2; i < g.dims(); ++i) axes.push_back(i);
  return sum(g, axes);
}

extern const Op kConv, kConvTranspose, kConvWeightGradient;

void vjp_conv(VjpContext& ctx) {
  const ConvAttrs& a = ctx.attrs<ConvAttrs>();
  const Tensor& g = ctx.grad();
  const Shape &x = ctx.input_meta(0).shape, &w = ctx.input_meta(1).shape;
  if (ctx.needs(0)) {
    const Dims missing = missing_rows(x, w, g.shape(), a.stride, a.padding, a.dilation);
    ctx.set(0, call(kConvTranspose,
                    ConvTransposeAttrs{a.stride, a.padding, missing, a.dilation, a.groups}, g,
                    ctx.input(1), Tensor()));
  }
  if (ctx.needs(1)) {
    ctx.set(1, call(kConvWeightGradient,
                    ConvWeightAttrs{a.stride, a.padding, a.dilation, spatial(w), a.groups},
                    ctx.input(0), g));
  }
  if (ctx.needs(2)) ctx.set(2, bias_gradient(g));
}

void vjp_conv_transpose(VjpContext& ctx) {
  const ConvTransposeAttrs& a = ctx.attrs<ConvTransposeAttrs>();
  const Tensor& g = ctx.grad();
  if (ctx.needs(0)) {
    ctx.set(0, call(kConv, ConvAttrs{a.stride, a.padding, a.dilation, a.groups}, g, ctx.input(1),
                    Tensor()));
  }
  if (ctx.needs(1)) {
    const Dims kernel = spatial(ctx.input_meta(1).shape);
    ctx.set(1, call(kConvWeightGradient,
                    ConvWeightAttrs{a.stride, a.padding, a.dilation, kernel, a.groups}, g,
                    ctx.input(0)));
  }
  if (ctx.needs(2)) ctx.set(2, bias_gradient(g));
}

void vjp_conv_weight_gradient(VjpContext& ctx) {
  const ConvWeightAttrs& a = ctx.attrs<ConvWeightAttrs>();
  const Tensor& w = ctx.grad();
  if (ctx.needs(0)) {
    const Dims missing = missing_rows(ctx.input_meta(0).shape, w.shape(), ctx.input_meta(1).shape,
                                      a.stride, a.padding, a.dilation);
    ctx.set(0, call(kConvTranspose,
                    ConvTransposeAttrs{a.stride, a.padding, missing, a.dilation, a.groups},
                    ctx.input(1), w, Tensor()));
  }
  if (ctx.needs(1)) {
    ctx.set(1, call(kConv, ConvAttrs{a.stride, a.padding, a.dilation, a.groups}, ctx.input(0), w,
                    Tensor()));
  }
}

// --- samples ---

Tensor channels_last(const Tensor& x) {
  const Shape& s = x.shape();
  return permute(contiguous(permute(reshape(x, {s[0], s[1], -1}), {0, 2, 1})), {0, 2, 1})
      .reshape(s);
}

void sample_conv(Samples& s) {
  s.add({s.spread({2, 3, 7}), s.spread({4, 3, 3}), s.spread({4})}, ConvAttrs{{2}, {1}, {1}, 1});
  s.add({s.spread({2, 4, 6, 5}), s.spread({6, 2, 3, 2}), Tensor()},
        ConvAttrs{{1, 2}, {0, 1}, {2, 1}, 2});
  s.add({channels_last(s.spread({2, 8, 6, 6})), s.spread({8, 8, 3, 3}, -1, 1), s.spread({8})},
        ConvAttrs{{1, 1}, {1, 1}, {1, 1}, 1});
  s.add({s.spread({2, 1, 8, 8}), s.spread({3, 1, 5, 5}, -1, 1), s.spread({3})},
        ConvAttrs{{1, 1}, {2, 2}, {1, 1}, 1});
  s.add({s.spread({1, 2, 3, 4, 4}), s.spread({2, 1, 2, 3, 2}), s.spread({2})},
        ConvAttrs{{2, 1, 1}, {1, 0, 1}, {1, 1, 2}, 2});
  s.add({s.spread({0, 2, 5}), s.spread({4, 2, 3}), s.spread({4})}, ConvAttrs{{1}, {1}, {1}, 1});
}

void sample_conv_transpose(Samples& s) {
  s.add({s.spread({2, 3, 4}), s.spread({3, 2, 3}), s.spread({2})},
        ConvTransposeAttrs{{2}, {1}, {1}, {3}, 1});
  s.add({channels_last(s.spread({2, 4, 3, 3})), s.spread({4, 3, 3, 2}), Tensor()},
        ConvTransposeAttrs{{2, 1}, {1, 0}, {0, 0}, {1, 1}, 2});
  s.add({s.spread({1, 2, 2, 3, 2}), s.spread({2, 1, 2, 2, 3}), s.spread({1})},
        ConvTransposeAttrs{{1, 2, 1}, {0, 1, 1}, {0, 1, 0}, {2, 1, 1}, 1});
  s.add({s.spread({0, 2, 5}), s.spread({2, 4, 3}), Tensor()},
        ConvTransposeAttrs{{1}, {1}, {0}, {1}, 1});
}

void sample_conv_weight_gradient(Samples& s) {
  s.add({s.spread({2, 3, 7}), s.spread({2, 4, 4})}, ConvWeightAttrs{{2}, {1}, {1}, {3}, 1});
  s.add({channels_last(s.spread({2, 4, 6, 5})), s.spread({2, 6, 4, 3})},
        ConvWeightAttrs{{1, 2}, {0, 1}, {1, 2}, {3, 2}, 2});
  s.add({s.spread({0, 2, 5}), s.spread({0, 4, 5})}, ConvWeightAttrs{{1}, {1}, {1}, {3}, 1});
}

// --- rows ---

const Op kConv{.name = "conv",
               .doc = "Slides a weight over 1 to 3 spatial axes of x [N, C, size...].",
               .inputs = "x, weight, bias?",
               .attrs = attr_info<ConvAttrs>,
               .infer = infer_conv,
               .vjp = vjp_conv,
               .saves = {Saves{2, 0}, Saves{1, 0}, Saves{}},
               .reference = reference_conv,
               .samples = sample_conv};

const Op kConvTranspose{
    .name = "conv_transpose",
    .doc = "The transpose of conv: every element of x adds a copy of the weight to the result.",
    .inputs = "x, weight, bias?",
    .attrs = attr_info<ConvTransposeAttrs>,
    .infer = infer_conv_transpose,
    .vjp = vjp_conv_transpose,
    .saves = {Saves{2, 0}, Saves{1, 0}, Saves{}},
    .reference = reference_conv_transpose,
    .samples = sample_conv_transpose};

const Op kConvWeightGradient{
    .name = "conv_weight_gradient",
    .doc = "The gradient of conv with respect to its weight, from x and the result's gradient.",
    .inputs = "x, g",
    .attrs = attr_info<ConvWeightAttrs>,
    .flags = {.internal = true},
    .infer = infer_conv_weight_gradient,
    .vjp = vjp_conv_weight_gradient,
    .saves = {Saves{2, 0}, Saves{1, 0}},
    .reference = reference_conv_weight_gradient,
    .samples = sample_conv_weight_gradient};

// --- the problem that kernels see ---

template <typename Attrs>
ConvProblem make_problem(const Attrs& a, const TensorMeta& x, const TensorMeta& w,
                         const TensorMeta& y) {
  ConvProblem p{};
  p.batch = x.shape[0];
  p.groups = a.groups;
  p.in_channels = w.shape[1];
  p.out_channels = w.shape[0] / a.groups;
  p.x = spatial_strides(x);
  p.w = spatial_strides(w);
  p.y = spatial_strides(y);
  const size_t skip = 3 - a.stride.size();
  for (size_t i = 0; i < 3; ++i) {
    const bool real = i >= skip;
    const size_t axis = i - skip + 2;
    p.in[i] = real ? x.shape[axis] : 1;
    p.out[i] = real ? y.shape[axis] : 1;
    p.kernel[i] = real ? w.shape[axis] : 1;
    p.stride[i] = real ? a.stride[axis - 2] : 1;
    p.padding[i] = real ? a.padding[axis - 2] : 0;
    p.dilation[i] = real ? a.dilation[axis - 2] : 1;
  }
  return p;
}

}  // namespace

ConvProblem conv_problem(const KernelContext& ctx) {
  const TensorMeta &a = ctx.in(0).meta, &b = ctx.in(1).meta, &out = ctx.out().meta;
  if (&ctx.op() == &kConv) return make_problem(ctx.attrs<ConvAttrs>(), a, b, out);
  if (&ctx.op() == &kConvTranspose) {
    return make_problem(ctx.attrs<ConvTransposeAttrs>(), out, b, a);
  }
  return make_problem(ctx.attrs<ConvWeightAttrs>(), a, out, b);
}

Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  const size_t axes = spatial_axes("conv", x);
  return call(
      kConv,
      ConvAttrs{o.stride.expand("conv", "stride", axes), o.padding.expand("conv", "padding", axes),
                o.dilation.expand("conv", "dilation", axes), o.groups},
      x, weight, bias);
}

Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const ConvTransposeOptions& o) {
  const char* name = "conv_transpose";
  const size_t axes = spatial_axes(name, x);
  return call(kConvTranspose,
              ConvTransposeAttrs{o.stride.expand(name, "stride", axes),
                                 o.padding.expand(name, "padding", axes),
                                 o.output_padding.expand(name, "output_padding", axes),
                                 o.dilation.expand(name, "dilation", axes), o.groups},
              x, weight, bias);
}

std::span<const Op* const> conv_rows() {
  static constexpr const Op* rows[] = {&kConv, &kConvTranspose, &kConvWeightGradient};
  return rows;
}

}  // namespace thalweg
