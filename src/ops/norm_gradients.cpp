#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "ops/norm.h"

namespace thalweg {
namespace {

// x and the gradients in the shape of the settings and in the dtype of statistics.
struct Normalised {
  Tensor x, distance, rate, normal;

  Normalised(const Tensor& input, const NormSettings& s) {
    const Dims& folded = s.axes.folded;
    x = cast(reshape(input, s.axes.shape), statistics_dtype(input.dtype()));
    distance = s.centered ? x - mean(x, folded, true) : x;
    rate = rsqrt(mean(square(distance), folded, true) + s.epsilon);
    normal = distance * rate;
  }
};

Tensor gradient_of_x(const Normalised& n, const Tensor& g, const Tensor& weight,
                     const NormSettings& s) {
  const Tensor scaled = weight.defined() ? g * cast(scaled_view(weight, s.axes), g.dtype()) : g;
  const Dims& folded = s.axes.folded;
  Tensor inner = scaled - n.normal * mean(scaled * n.normal, folded, true);
  if (s.centered) inner = inner - mean(scaled, folded, true);
  return inner * n.rate;
}

// What reaches x through the mean and the variance, outputs 1 and 2.
Tensor through_statistics(VjpContext& ctx, const Normalised& n, const NormSettings& s, Tensor dx) {
  const double share = 1 / static_cast<double>(s.axes.folded_count());
  if (ctx.has_grad(1)) {
    dx = dx + broadcast_to(scaled_view(ctx.grad(1), s.axes) * share, s.axes.shape);
  }
  if (ctx.has_grad(2)) {
    dx = dx + scaled_view(ctx.grad(2), s.axes) * (2 * share) * n.distance;
  }
  return dx;
}

void gradients_by_ops(VjpContext& ctx, const NormSettings& s) {
  const TensorMeta& x = ctx.input_meta(0);
  const Tensor grad = ctx.has_grad() ? reshape(ctx.grad(), s.axes.shape)
                                     : Tensor::zeros(s.axes.shape, {x.dtype, x.device});
  const Tensor g = cast(grad, statistics_dtype(x.dtype));
  if (ctx.needs(2)) ctx.set(2, scaled_sum(g, s.axes, ctx.input_meta(2)));
  if (!ctx.needs(0) && !ctx.needs(1)) return;
  const Normalised n(ctx.input(0), s);
  if (ctx.needs(1)) ctx.set(1, scaled_sum(g * n.normal, s.axes, ctx.input_meta(1)));
  if (!ctx.needs(0)) return;
  Tensor dx = gradient_of_x(n, g, ctx.input(1), s);
  if (ctx.op().outputs > 1) dx = through_statistics(ctx, n, s, dx);
  ctx.set(0, cast(reshape(dx, x.shape), x.dtype));
}

}  // namespace

Tensor scaled_view(const Tensor& parameter, const NormAxes& axes) {
  return reshape(parameter, axes.scaled_shape());
}

Tensor scaled_sum(const Tensor& g, const NormAxes& axes, const TensorMeta& parameter) {
  return cast(reshape(sum_to(g, axes.scaled_shape()), parameter.shape), parameter.dtype);
}

void norm_gradients(VjpContext& ctx, const Op& fused, const void* attrs, const NormSettings& s) {
  const bool has_statistics = ctx.op().outputs > 1;
  const bool by_statistics = has_statistics && (ctx.has_grad(1) || ctx.has_grad(2));
  if (ctx.creates_graph() || by_statistics || !(ctx.needs(0) || ctx.needs(1))) {
    return gradients_by_ops(ctx, s);
  }
  const TensorImpl* in[5] = {ctx.grad().impl(), ctx.input(0).impl(), ctx.input(1).impl()};
  if (has_statistics) {
    in[3] = ctx.output(1).impl();
    in[4] = ctx.output(2).impl();
  }
  const std::vector<Tensor> results = call_many(fused, attrs, {in, has_statistics ? size_t{5} : 3});
  for (size_t i = 0; i < results.size(); ++i) {
    if (ctx.needs(i)) ctx.set(i, cast(results[i], ctx.input_meta(i).dtype));
  }
}

}  // namespace thalweg
