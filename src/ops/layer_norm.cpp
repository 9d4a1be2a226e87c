// layer_norm and rms_norm.

#include <thalweg/ops/call.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/norm.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

template <bool kCentered>
NormSettings settings(const Shape& x, const LayerNormAttrs& a) {
  return {layer_norm_axes(x, a), a.epsilon, kCentered};
}

Shape last_axes(const InferContext& ctx, size_t x) {
  const Shape& shape = ctx.in(x).shape;
  const size_t first = axis_of(ctx, ctx.attrs<LayerNormAttrs>().axis, shape.size());
  return Shape(std::span<const int64_t>(shape).subspan(first));
}

void infer_layer_norm(const InferContext& ctx) {
  require_floating(ctx, 0);
  infer_norm(ctx, 1, last_axes(ctx, 0));
}

void infer_layer_norm_vjp(const InferContext& ctx) { infer_norm_vjp(ctx, last_axes(ctx, 1)); }

template <bool kCentered>
void reference_forward(const KernelContext& ctx) {
  reference_norm(ctx, settings<kCentered>(ctx.in(0).meta.shape, ctx.attrs<LayerNormAttrs>()));
}

template <bool kCentered>
void reference_vjp(const KernelContext& ctx) {
  reference_norm_vjp(ctx, settings<kCentered>(ctx.in(1).meta.shape, ctx.attrs<LayerNormAttrs>()));
}

template <bool kCentered, const Op& kFused>
void vjp(VjpContext& ctx) {
  const auto& a = ctx.attrs<LayerNormAttrs>();
  norm_gradients(ctx, kFused, &a, settings<kCentered>(ctx.input_meta(0).shape, a));
}

constexpr const char* kVjpReason = "it is a fused gradient, used where no second one is wanted";

const Op kLayerNormVjp{.name = "layer_norm_vjp",
                       .doc = "The gradients of layer_norm with respect to x, weight and bias.",
                       .inputs = "grad, x, weight?",
                       .attrs = attr_info<LayerNormAttrs>,
                       .flags = {.internal = true},
                       .outputs = 3,
                       .infer = infer_layer_norm_vjp,
                       .no_gradient = kVjpReason,
                       .reference = reference_vjp<true>};

const Op kRmsNormVjp{.name = "rms_norm_vjp",
                     .doc = "The gradients of rms_norm with respect to x and weight.",
                     .inputs = "grad, x, weight?",
                     .attrs = attr_info<LayerNormAttrs>,
                     .flags = {.internal = true},
                     .outputs = 2,
                     .infer = infer_layer_norm_vjp,
                     .no_gradient = kVjpReason,
                     .reference = reference_vjp<false>};

void sample_layer_norm(Samples& s) {
  s.add({s.spread({3, 5}), s.spread({5}, 0.5, 2), s.spread({5})}, LayerNormAttrs{-1, 1e-5});
  s.add({s.spread({2, 3, 4}), s.spread({3, 4}, 0.5, 2), Tensor()}, LayerNormAttrs{1, 1e-3});
  s.add({transpose(s.spread({4, 3})), Tensor(), Tensor()}, LayerNormAttrs{-1, 1e-5});
  s.add({s.spread({6}, 9, 11), s.spread({6}, 0.5, 2), s.spread({6})}, LayerNormAttrs{0, 1e-5});
  s.add({s.spread({0, 3}), s.spread({3}), s.spread({3})}, LayerNormAttrs{-1, 1e-5});
}

void sample_rms_norm(Samples& s) {
  s.add({s.spread({3, 5}), s.spread({5}, 0.5, 2)}, LayerNormAttrs{-1, 1e-5});
  s.add({s.spread({2, 3, 4}), s.spread({3, 4}, 0.5, 2)}, LayerNormAttrs{1, 1e-3});
  s.add({transpose(s.spread({4, 3})), Tensor()}, LayerNormAttrs{-1, 1e-5});
  s.add({s.spread({0, 3}), s.spread({3})}, LayerNormAttrs{-1, 1e-5});
}

const Op kLayerNorm{.name = "layer_norm",
                    .doc = "x normalised by the mean and variance of each sample's last axes.",
                    .inputs = "x, weight?, bias?",
                    .attrs = attr_info<LayerNormAttrs>,
                    .infer = infer_layer_norm,
                    .vjp = vjp<true, kLayerNormVjp>,
                    .saves = {Saves{3, 0}, Saves{1, 0}, Saves{}},
                    .reference = reference_forward<true>,
                    .samples = sample_layer_norm};

const Op kRmsNorm{.name = "rms_norm",
                  .doc = "x divided by the root of the mean square of each sample's last axes.",
                  .inputs = "x, weight?",
                  .attrs = attr_info<LayerNormAttrs>,
                  .infer = infer_layer_norm,
                  .vjp = vjp<false, kRmsNormVjp>,
                  .saves = {Saves{3, 0}, Saves{1, 0}},
                  .reference = reference_forward<false>,
                  .samples = sample_rms_norm};

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const LayerNormOptions& options) {
  return call(kLayerNorm,
              LayerNormAttrs{options.axis, checked_epsilon("layer_norm", options.epsilon)}, x,
              weight, bias);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, const LayerNormOptions& options) {
  return call(kRmsNorm, LayerNormAttrs{options.axis, checked_epsilon("rms_norm", options.epsilon)},
              x, weight);
}

std::span<const Op* const> layer_norm_rows() {
  static constexpr const Op* rows[] = {&kLayerNorm, &kRmsNorm, &kLayerNormVjp, &kRmsNormVjp};
  return rows;
}

}  // namespace thalweg
