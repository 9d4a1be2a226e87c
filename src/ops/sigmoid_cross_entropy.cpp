// Binary cross entropy with logits.

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/pointwise_reference.h"
#include "ops/samples.h"
#include "ops/table.h"
#include "ops/tensor_num.h"

namespace thalweg {
namespace {

// The expressions, for scalars and for tensors. w is the weight of the positive part.
template <typename V>
V log1p_exp(const V& x) {
  return num::max(x, 0 * x) + num::log1p(num::exp(-num::abs(x)));
}
template <typename V>
V loss(const V& x, const V& y, const V& w) {
  return (1 - y) * x + (1 + (w - 1) * y) * log1p_exp(-x);
}
// (1 - y) sigmoid(x) - w y sigmoid(-x): small values are not made as differences of large ones.
template <typename V>
V loss_gradient(const V& g, const V& x, const V& y, const V& w) {
  return g * ((1 - y) * (1 / (1 + num::exp(-x))) - w * y * (1 / (1 + num::exp(x))));
}

struct Loss {
  template <typename V>
  static V apply(V x, V y) {
    return loss(x, y, V(1));
  }
  template <typename V>
  static V apply(V x, V y, V w) {
    return loss(x, y, w);
  }
};

struct LossGradient {
  template <typename V>
  static V apply(V g, V x, V y) {
    return loss_gradient(g, x, y, V(1));
  }
  template <typename V>
  static V apply(V g, V x, V y, V w) {
    return loss_gradient(g, x, y, w);
  }
};

void infer_loss(const InferContext& ctx) {
  require_floating(ctx, 0);
  require_same_dtype(ctx, 0, 1);
  const Shape& shape = ctx.in(0).shape;
  if (ctx.in(1).shape != shape) {
    fail_invalid("sigmoid_cross_entropy: label of shape {} for pred of shape {}; they must agree",
                 to_string(ctx.in(1).shape), to_string(shape));
  }
  infer_like_input(ctx);
  if (!ctx.has(2)) return;
  require_same_dtype(ctx, 0, 2);
  if (broadcast_shapes("sigmoid_cross_entropy", shape, ctx.in(2).shape) != shape) {
    fail_invalid("sigmoid_cross_entropy: pos_weight of shape {} does not broadcast to pred's {}",
                 to_string(ctx.in(2).shape), to_string(shape));
  }
}

void infer_loss_vjp(const InferContext& ctx) {
  infer_broadcast_of(ctx, {1, 0});
  ctx.out().dtype = ctx.in(1).dtype;
}

// The weight, an absent last input, is 1.
template <typename Apply, size_t kInputs>
void reference(const KernelContext& ctx) {
  if (ctx.has(kInputs - 1))
    reference_pointwise<Apply, Classes::floating, kInputs>(ctx);
  else
    reference_pointwise<Apply, Classes::floating, kInputs - 1>(ctx.with_inputs(kInputs - 1));
}

const Op kLossVjp{.name = "sigmoid_cross_entropy_vjp",
                  .doc = "The gradient of sigmoid_cross_entropy with respect to pred.",
                  .inputs = "grad, pred, label, pos_weight?",
                  .flags = {.pointwise = true, .internal = true},
                  .infer = infer_loss_vjp,
                  .no_gradient = "it is a fused gradient, used where no second one is wanted",
                  .reference = reference<LossGradient, 4>};

void vjp_loss(VjpContext& ctx) {
  const Tensor &g = ctx.grad(), &x = ctx.input(0), &y = ctx.input(1), &w = ctx.input(2);
  if (ctx.needs(0) && !ctx.creates_graph()) {
    ctx.set(0, call(kLossVjp, NoAttrs{}, g, x, y, w));
  } else if (ctx.needs(0)) {
    ctx.set(0, g * ((1 - y) * sigmoid(x) - (w.defined() ? w * y : y) * sigmoid(-x)));
  }
  if (ctx.needs(1)) {
    ctx.set(1, g * ((w.defined() ? (w - 1) * softplus(-x) : 0 * x) - x));
  }
  if (ctx.needs(2)) ctx.set(2, sum_to(g * (y * softplus(-x)), ctx.input_meta(2).shape));
}

void sample_loss(Samples& s) {
  s.add({s.spread({3, 4}), s.spread({3, 4}, 0.1, 0.9), Tensor()});
  s.add({s.spread({3, 4}, -20, 20), s.spread({3, 4}, 0.1, 0.9), s.spread({4}, 0.5, 3)});
  s.add({s.spread({}), s.spread({}, 0.1, 0.9), s.spread({}, 0.5, 3)});
  s.add({s.spread({0, 2}), s.spread({0, 2}), Tensor()});
  s.add({transpose(s.spread({4, 3})), s.spread({3, 4}, 0.1, 0.9), Tensor()});
}

const Op kLoss{.name = "sigmoid_cross_entropy",
               .doc = "The cross entropy of labels and the sigmoid of logits, element by element.",
               .inputs = "pred, label, pos_weight?",
               .flags = {.pointwise = true},
               .infer = infer_loss,
               .vjp = vjp_loss,
               .saves = {Saves{7, 0}, Saves{5, 0}, Saves{3, 0}},
               .reference = reference<Loss, 3>,
               .samples = sample_loss};

}  // namespace

Tensor sigmoid_cross_entropy(const Tensor& pred, const Tensor& label, const Tensor& pos_weight) {
  if (!pred.defined() || !label.defined()) return call(kLoss, NoAttrs{}, pred, label, pos_weight);
  return call(kLoss, NoAttrs{}, pred, cast(label, pred.dtype()),
              pos_weight.defined() ? cast(pos_weight, pred.dtype()) : pos_weight);
}

std::span<const Op* const> sigmoid_cross_entropy_rows() {
  static constexpr const Op* rows[] = {&kLoss, &kLossVjp};
  return rows;
}

}  // namespace thalweg
