#include <cmath>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/norm.h"
#include "ops/pointwise_reference.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

Shape channels_of(const InferContext& ctx, size_t x) {
  const Shape& shape = ctx.in(x).shape;
  if (shape.size() < 2) {
    fail_invalid("{}: x of shape {}; it takes at least 2 dimensions, e.g. [N, C]", ctx.op().name,
                 to_string(shape));
  }
  return {shape[axis_of(ctx, ctx.attrs<BatchNormAttrs>().axis, shape.size())]};
}

NormSettings settings(const Shape& x, const BatchNormAttrs& a) {
  return {batch_norm_axes(x, a), a.epsilon, true};
}

// --- batch_norm, by the statistics of x ---
void infer_batch_norm(const InferContext& ctx) {
  require_floating(ctx, 0);
  const Shape channels = channels_of(ctx, 0);
  infer_norm(ctx, 1, channels);
  for (size_t i = 1; i < 3; ++i) {
    ctx.out(i).dtype = statistics_dtype(ctx.in(0).dtype);
    ctx.out(i).set_row_major(channels);
  }
}

void infer_batch_norm_vjp(const InferContext& ctx) { infer_norm_vjp(ctx, channels_of(ctx, 1)); }

void reference_batch_norm(const KernelContext& ctx) {
  reference_norm(ctx, settings(ctx.in(0).meta.shape, ctx.attrs<BatchNormAttrs>()));
}

void reference_batch_norm_vjp(const KernelContext& ctx) {
  reference_norm_vjp(ctx, settings(ctx.in(1).meta.shape, ctx.attrs<BatchNormAttrs>()));
}

const Op kBatchNormVjp{.name = "batch_norm_vjp",
                       .doc = "The gradients of batch_norm with respect to x, weight and bias.",
                       .inputs = "grad, x, weight?, mean, var",
                       .attrs = attr_info<BatchNormAttrs>,
                       .flags = {.internal = true},
                       .outputs = 3,
                       .infer = infer_batch_norm_vjp,
                       .no_gradient = "it is a fused gradient, used where no second one is wanted",
                       .reference = reference_batch_norm_vjp};

void vjp_batch_norm(VjpContext& ctx) {
  const auto& a = ctx.attrs<BatchNormAttrs>();
  norm_gradients(ctx, kBatchNormVjp, &a, settings(ctx.input_meta(0).shape, a));
}

Tensor channels_last(const Tensor& x) { return permute(x, {0, 3, 1, 2}); }

void sample_batch_norm(Samples& s) {
  s.add({s.spread({4, 3}), s.spread({3}, 0.5, 2), s.spread({3})}, BatchNormAttrs{1, 1e-5});
  s.add({s.spread({2, 3, 2, 2}), Tensor(), Tensor()}, BatchNormAttrs{-3, 1e-3});
  s.add({channels_last(s.spread({2, 2, 2, 3})), s.spread({3}, 0.5, 2), s.spread({3})},
        BatchNormAttrs{1, 1e-5});
  s.add({s.spread({2, 3, 4}, 9, 11), s.spread({4}, 0.5, 2), Tensor()}, BatchNormAttrs{2, 1e-5});
  s.add({s.spread({0, 3}), s.spread({3}), s.spread({3})}, BatchNormAttrs{1, 1e-5});
}

const Op kBatchNorm{.name = "batch_norm",
                    .doc = "x normalised by each channel's mean and variance, which it gives too.",
                    .inputs = "x, weight?, bias?",
                    .attrs = attr_info<BatchNormAttrs>,
                    .outputs = 3,
                    .infer = infer_batch_norm,
                    .vjp = vjp_batch_norm,
                    .saves = {Saves{3, 6}, Saves{1, 6}, Saves{}},
                    .reference = reference_batch_norm,
                    .samples = sample_batch_norm};

// --- batch_norm_inference, by given statistics ---
void infer_inference(const InferContext& ctx) {
  require_floating(ctx, 0);
  infer_norm(ctx, 3, channels_of(ctx, 0));
  for (size_t i = 1; i < 3; ++i) {
    require_floating(ctx, i);
    if (ctx.in(i).shape == channels_of(ctx, 0)) continue;
    fail_invalid("batch_norm: running statistics of shape {} for x of shape {}; expected {}",
                 to_string(ctx.in(i).shape), to_string(ctx.in(0).shape),
                 to_string(channels_of(ctx, 0)));
  }
}

void reference_inference(const KernelContext& ctx) {
  const TensorMeta &x = ctx.in(0).meta, &y = ctx.out().meta;
  const auto& a = ctx.attrs<BatchNormAttrs>();
  const Scratch<double> mean = to_doubles(ctx.in(1)), var = to_doubles(ctx.in(2));
  Scratch<double> scale = ctx.has(3) ? to_doubles(ctx.in(3)) : Scratch<double>(mean.size(), 1.0);
  Scratch<double> bias = ctx.has(4) ? to_doubles(ctx.in(4)) : Scratch<double>(mean.size(), 0.0);
  for (int64_t c = 0; c < mean.size(); ++c) scale[c] /= std::sqrt(var[c] + a.epsilon);
  TensorMeta channel = x;
  channel.strides = Dims(x.shape.size(), 0);
  channel.strides[axis_of(ctx, a.axis, x.shape.size())] = 1;
  visit_floating(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_position<3>({&x, &y, &channel}, kNoAxis, [&](const auto& at) {
      const double distance = as_double(ctx.in(0).as<T>()[at[0]]) - mean[at[2]];
      ctx.out().as<T>()[at[1]] = static_cast<T>(distance * scale[at[2]] + bias[at[2]]);
    });
  });
}

void vjp_inference(VjpContext& ctx) {
  const auto& a = ctx.attrs<BatchNormAttrs>();
  const TensorMeta& x = ctx.input_meta(0);
  const NormAxes axes = batch_norm_axes(x.shape, a);
  const DType dtype = statistics_dtype(x.dtype);
  const auto wide = [&](size_t i) { return cast(scaled_view(ctx.input(i), axes), dtype); };
  const Tensor g = cast(ctx.grad(), dtype);
  if (ctx.needs(4)) ctx.set(4, scaled_sum(g, axes, ctx.input_meta(4)));
  const bool moved = ctx.needs(0) || ctx.needs(1) || ctx.needs(2);
  if (!moved && !ctx.needs(3)) return;
  const Tensor rate = rsqrt(wide(2) + a.epsilon);
  const Tensor dx = g * (ctx.input(3).defined() ? rate * wide(3) : rate);
  if (ctx.needs(0)) ctx.set(0, cast(dx, x.dtype));
  if (ctx.needs(1)) ctx.set(1, scaled_sum(-dx, axes, ctx.input_meta(1)));
  if (!ctx.needs(2) && !ctx.needs(3)) return;
  const Tensor distance = cast(ctx.input(0), dtype) - wide(1);
  if (ctx.needs(2)) {
    const Tensor dvar = dx * distance * (-0.5 * square(rate));
    ctx.set(2, scaled_sum(dvar, axes, ctx.input_meta(2)));
  }
  if (ctx.needs(3)) ctx.set(3, scaled_sum(g * distance * rate, axes, ctx.input_meta(3)));
}

void sample_inference(Samples& s) {
  s.add({s.spread({4, 3}), s.spread({3}), s.spread({3}, 0.5, 2), s.spread({3}, 0.5, 2),
         s.spread({3})},
        BatchNormAttrs{1, 1e-5});
  s.add({s.spread({2, 3, 2, 2}), s.spread({3}), s.spread({3}, 0.5, 2), Tensor(), Tensor()},
        BatchNormAttrs{-3, 1e-3});
  s.add({channels_last(s.spread({2, 2, 2, 3})), s.spread({3}), s.spread({3}, 0.5, 2),
         s.spread({3}, 0.5, 2), Tensor()},
        BatchNormAttrs{1, 1e-5});
  s.add({s.spread({0, 3}), s.spread({3}), s.spread({3}, 0.5, 2), Tensor(), s.spread({3})},
        BatchNormAttrs{1, 1e-5});
}

const Op kInference{.name = "batch_norm_inference",
                    .doc = "x normalised by a given mean and variance of each channel.",
                    .inputs = "x, mean, var, weight?, bias?",
                    .attrs = attr_info<BatchNormAttrs>,
                    .infer = infer_inference,
                    .vjp = vjp_inference,
                    .saves = {Saves{12, 0}, Saves{12, 0}, Saves{15, 0}, Saves{7, 0}, Saves{}},
                    .reference = reference_inference,
                    .samples = sample_inference};

// --- running statistics ---
struct AverageAttrs {
  double momentum = 0.9;
  double factor = 1;
  static auto fields() {
    return std::tuple{attr("momentum", &AverageAttrs::momentum, "part of `average` that is kept"),
                      attr("factor", &AverageAttrs::factor, "multiplies the value first")};
  }
};

template <typename T>
void average_row(const PointwiseRow& row) {
  const auto& a = *static_cast<const AverageAttrs*>(row.context);
  for (int64_t i = 0; i < row.n; ++i) {
    const auto at = [&](size_t k) {
      return static_cast<double>(load_scalar<T>(row.in[k] + i * row.in_stride[k]).v);
    };
    const double average = a.momentum * at(0) + (1 - a.momentum) * (a.factor * at(1));
    store_scalar<T>(row.out + i * row.out_stride, Scalar<double>(average));
  }
}

void reference_average(const KernelContext& ctx) {
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    pointwise_loop(ctx, average_row<decltype(zero)>, kReferenceNs, &ctx.attrs<AverageAttrs>());
  });
}

const Op kAverage{.name = "running_average",
                  .doc = "momentum * average + (1 - momentum) * factor * value.",
                  .inputs = "average, value",
                  .attrs = attr_info<AverageAttrs>,
                  .flags = {.pointwise = true, .in_place = true, .internal = true},
                  .infer = infer_broadcast,
                  .no_gradient = "it keeps running statistics",
                  .reference = reference_average};

void keep_average(const Tensor& average, const Tensor& value, const AverageAttrs& a) {
  // Without a history: running statistics are no part of what is differentiated.
  const Tensor plain = cast(make_view(value, value.meta()), average.dtype());
  const TensorImpl* const in[2] = {average.impl(), plain.impl()};
  call_into(kAverage, &a, in, average);
}

void check_running(const Tensor& x, const Tensor& running, int64_t axis) {
  const Shape expected{x.size(axis)};
  if (running.shape() == expected && is_floating(running.dtype())) return;
  fail_invalid("batch_norm: running statistics of shape {} {} for x of shape {}; expected {}",
               to_string(running.shape()), name(running.dtype()), to_string(x.shape()),
               to_string(expected));
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormOptions& options) {
  const BatchNormAttrs a{options.axis, checked_epsilon("batch_norm", options.epsilon)};
  if (running_mean.defined() != running_var.defined()) {
    fail_invalid("batch_norm: one of running_mean and running_var is an undefined tensor");
  }
  const bool has_running = running_mean.defined();
  if (has_running && !thread_mode().training) {
    return call(kInference, a, x, running_mean, running_var, weight, bias);
  }
  if (!(options.momentum >= 0 && options.momentum <= 1)) {
    fail_invalid("batch_norm: momentum is {}; it must be from 0 to 1", options.momentum);
  }
  if (has_running && x.defined()) {
    check_running(x, running_mean, a.axis);
    check_running(x, running_var, a.axis);
  }
  const TensorImpl* const in[3] = {x.impl(), weight.impl(), bias.impl()};
  std::vector<Tensor> results = call_many(kBatchNorm, &a, in);
  if (has_running && x.size() > 0) {
    const auto n = static_cast<double>(x.size() / running_mean.size());
    keep_average(running_mean, results[1], {options.momentum, 1});
    keep_average(running_var, results[2], {options.momentum, n > 1 ? n / (n - 1) : 1});
  }
  return std::move(results[0]);
}

std::span<const Op* const> batch_norm_rows() {
  static constexpr const Op* rows[] = {&kBatchNorm, &kBatchNormVjp, &kInference, &kAverage};
  return rows;
}

}  // namespace thalweg
