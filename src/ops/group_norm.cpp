#include <thalweg/ops/call.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/norm.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

NormSettings settings(const Shape& x, const GroupNormAttrs& a) {
  return {group_norm_axes(x, a), a.epsilon, true};
}

Shape channels_of(const InferContext& ctx, size_t x) {
  const Shape& shape = ctx.in(x).shape;
  const int64_t groups = ctx.attrs<GroupNormAttrs>().groups;
  if (shape.size() < 2 || shape.size() >= kMaxDims) {
    fail_invalid("group_norm: x of shape {}; it takes 2 to {} dimensions, [N, C, ...]",
                 to_string(shape), kMaxDims - 1);
  }
  if (groups < 1 || shape[1] % groups != 0) {
    fail_invalid("group_norm: {} groups do not divide the {} channels of x of shape {}", groups,
                 shape[1], to_string(shape));
  }
  return {shape[1]};
}

void infer_group_norm(const InferContext& ctx) {
  require_floating(ctx, 0);
  infer_norm(ctx, 1, channels_of(ctx, 0));
}

void infer_group_norm_vjp(const InferContext& ctx) { infer_norm_vjp(ctx, channels_of(ctx, 1)); }

void reference_group_norm(const KernelContext& ctx) {
  reference_norm(ctx, settings(ctx.in(0).meta.shape, ctx.attrs<GroupNormAttrs>()));
}

void reference_group_norm_vjp(const KernelContext& ctx) {
  reference_norm_vjp(ctx, settings(ctx.in(1).meta.shape, ctx.attrs<GroupNormAttrs>()));
}

const Op kGroupNormVjp{.name = "group_norm_vjp",
                       .doc = "The gradients of group_norm with respect to x, weight and bias.",
                       .inputs = "grad, x, weight?",
                       .attrs = attr_info<GroupNormAttrs>,
                       .flags = {.internal = true},
                       .outputs = 3,
                       .infer = infer_group_norm_vjp,
                       .no_gradient = "it is a fused gradient, used where no second one is wanted",
                       .reference = reference_group_norm_vjp};

void vjp_group_norm(VjpContext& ctx) {
  const auto& a = ctx.attrs<GroupNormAttrs>();
  norm_gradients(ctx, kGroupNormVjp, &a, settings(ctx.input_meta(0).shape, a));
}

void sample_group_norm(Samples& s) {
  s.add({s.spread({2, 4, 3}), s.spread({4}, 0.5, 2), s.spread({4})}, GroupNormAttrs{2, 1e-5});
  s.add({s.spread({2, 3, 2, 2}), s.spread({3}, 0.5, 2), Tensor()}, GroupNormAttrs{3, 1e-3});
  s.add({permute(s.spread({2, 2, 2, 4}), {0, 3, 1, 2}), s.spread({4}, 0.5, 2), s.spread({4})},
        GroupNormAttrs{2, 1e-5});
  s.add({s.spread({3, 6}), Tensor(), Tensor()}, GroupNormAttrs{1, 1e-5});
  s.add({s.spread({0, 4, 2}), s.spread({4}), s.spread({4})}, GroupNormAttrs{2, 1e-5});
}

const Op kGroupNorm{.name = "group_norm",
                    .doc = "x normalised by the mean and variance of each group of channels.",
                    .inputs = "x, weight?, bias?",
                    .attrs = attr_info<GroupNormAttrs>,
                    .infer = infer_group_norm,
                    .vjp = vjp_group_norm,
                    .saves = {Saves{3, 0}, Saves{1, 0}, Saves{}},
                    .reference = reference_group_norm,
                    .samples = sample_group_norm};

}  // namespace

Tensor group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const GroupNormOptions& options) {
  return call(kGroupNorm,
              GroupNormAttrs{options.groups, checked_epsilon("group_norm", options.epsilon)}, x,
              weight, bias);
}

std::span<const Op* const> group_norm_rows() {
  static constexpr const Op* rows[] = {&kGroupNorm, &kGroupNormVjp};
  return rows;
}

}  // namespace thalweg
