#include "ops/softmax.h"

#include <cmath>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "ops/infer.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/softmax_lane.h"
#include "ops/table.h"

namespace thalweg {
namespace {

void infer_softmax(const InferContext& ctx) {
  require_floating(ctx, 0);
  axis_of(ctx, ctx.attrs<SoftmaxAttrs>().axis, ctx.in(0).shape.size());
  infer_like_input(ctx);
}

void infer_softmax_vjp(const InferContext& ctx) {
  ctx.out().dtype = ctx.in(1).dtype;
  infer_broadcast_of(ctx, {1, 0});
}

template <bool kLog>
void reference_softmax(const KernelContext& ctx) {
  const TensorMeta &x = ctx.in(0).meta, &y = ctx.out().meta;
  const size_t axis = axis_of(ctx, ctx.attrs<SoftmaxAttrs>().axis, x.shape.size());
  const int64_t n = x.shape[axis], x_step = x.strides[axis], y_step = y.strides[axis];
  visit_floating(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_position<2>({&x, &y}, axis, [&](const auto& at) {
      const SoftmaxLane<T> lane(ctx.in(0).as<T>() + at[0], x_step, n);
      T* out = ctx.out().as<T>() + at[1];
      for (int64_t i = 0; i < n; ++i) {
        out[i * y_step] = static_cast<T>(kLog ? lane.log_share(i) : lane.share(i));
      }
    });
  });
}

// Inputs grad and y. With s the softmax, its gradient is s (g - sum(g s)); that of log_softmax is
// g - s sum(g).
template <bool kLog>
void reference_softmax_vjp(const KernelContext& ctx) {
  const TensorMeta &g = ctx.in(0).meta, &y = ctx.in(1).meta, &dx = ctx.out().meta;
  const size_t axis = axis_of(ctx, ctx.attrs<SoftmaxAttrs>().axis, y.shape.size());
  const int64_t n = y.shape[axis];
  visit_floating(y.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_position<3>({&g, &y, &dx}, axis, [&](const auto& at) {
      const auto grad = [&](int64_t i) {
        return as_double(ctx.in(0).as<T>()[at[0] + i * g.strides[axis]]);
      };
      const auto share = [&](int64_t i) {
        const double value = as_double(ctx.in(1).as<T>()[at[1] + i * y.strides[axis]]);
        return kLog ? std::exp(value) : value;
      };
      double total = 0;
      for (int64_t i = 0; i < n; ++i) total += kLog ? grad(i) : grad(i) * share(i);
      for (int64_t i = 0; i < n; ++i) {
        const double value = kLog ? grad(i) - share(i) * total : share(i) * (grad(i) - total);
        ctx.out().as<T>()[at[2] + i * dx.strides[axis]] = static_cast<T>(value);
      }
    });
  });
}

constexpr const char* kVjpReason = "it is a fused gradient, used where no second one is wanted";

const Op kSoftmaxVjp{.name = "softmax_vjp",
                     .doc = "The gradient of softmax.",
                     .inputs = "grad, y",
                     .attrs = attr_info<SoftmaxAttrs>,
                     .flags = {.internal = true},
                     .infer = infer_softmax_vjp,
                     .no_gradient = kVjpReason,
                     .reference = reference_softmax_vjp<false>};

const Op kLogSoftmaxVjp{.name = "log_softmax_vjp",
                        .doc = "The gradient of log_softmax.",
                        .inputs = "grad, y",
                        .attrs = attr_info<SoftmaxAttrs>,
                        .flags = {.internal = true},
                        .infer = infer_softmax_vjp,
                        .no_gradient = kVjpReason,
                        .reference = reference_softmax_vjp<true>};

void vjp_softmax(VjpContext& ctx) {
  const SoftmaxAttrs& a = ctx.attrs<SoftmaxAttrs>();
  const Tensor &g = ctx.grad(), &y = ctx.output();
  if (!ctx.creates_graph()) return ctx.set(0, call(kSoftmaxVjp, a, g, y));
  ctx.set(0, y * (g - sum(g * y, {a.axis}, true)));
}

void vjp_log_softmax(VjpContext& ctx) {
  const SoftmaxAttrs& a = ctx.attrs<SoftmaxAttrs>();
  const Tensor &g = ctx.grad(), &y = ctx.output();
  if (!ctx.creates_graph()) return ctx.set(0, call(kLogSoftmaxVjp, a, g, y));
  ctx.set(0, g - exp(y) * sum(g, {a.axis}, true));
}

void sample_softmax(Samples& s) {
  s.add({s.spread({3, 5})}, SoftmaxAttrs{-1});
  s.add({s.spread({2, 3, 4})}, SoftmaxAttrs{1});
  s.add({transpose(s.spread({4, 3}))}, SoftmaxAttrs{1});
  s.add({s.spread({5, 19}, -30, 30)}, SoftmaxAttrs{0});
  s.add({s.spread({0, 3})}, SoftmaxAttrs{-1});
  s.add({s.spread({3, 0})}, SoftmaxAttrs{-1});
}

const Op kSoftmax{.name = "softmax",
                  .doc = "exp(x) divided by its sum along an axis.",
                  .inputs = "x",
                  .attrs = attr_info<SoftmaxAttrs>,
                  .infer = infer_softmax,
                  .vjp = vjp_softmax,
                  .saves = {Saves{0, 1}},
                  .reference = reference_softmax<false>,
                  .samples = sample_softmax};

const Op kLogSoftmax{.name = "log_softmax",
                     .doc = "The logarithm of softmax along an axis.",
                     .inputs = "x",
                     .attrs = attr_info<SoftmaxAttrs>,
                     .infer = infer_softmax,
                     .vjp = vjp_log_softmax,
                     .saves = {Saves{0, 1}},
                     .reference = reference_softmax<true>,
                     .samples = sample_softmax};

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) { return call(kSoftmax, SoftmaxAttrs{axis}, x); }

Tensor log_softmax(const Tensor& x, int64_t axis) {
  return call(kLogSoftmax, SoftmaxAttrs{axis}, x);
}

std::span<const Op* const> softmax_rows() {
  static constexpr const Op* rows[] = {&kSoftmax, &kLogSoftmax, &kSoftmaxVjp, &kLogSoftmaxVjp};
  return rows;
}

}  // namespace thalweg
