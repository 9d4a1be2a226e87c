// logsumexp and norm.

#include <cmath>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/reduce.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// out[o] = fold(visit), where visit(f) calls f(element) for each element of one result.
template <typename F>
void reference_fold(const KernelContext& ctx, F&& fold) {
  visit_floating(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = ctx.in(0).as<T>();
    T* out = ctx.out().as<T>();
    for_each_reduction(ctx, [&](int64_t o, const ReducedElements& elements) {
      out[o] = static_cast<T>(
          fold([&](auto&& f) { elements.visit([&](int64_t i) { f(as_double(in[i])); }); }));
    });
  });
}

// --- logsumexp ---
void reference_logsumexp(const KernelContext& ctx) {
  reference_fold(ctx, [](auto&& visit) {
    double largest = -kInfinity, total = 0;
    visit([&](double x) { largest = x > largest || x != x ? x : largest; });
    if (!std::isfinite(largest)) return largest;
    visit([&](double x) { total += std::exp(x - largest); });
    return largest + std::log(total);
  });
}

void vjp_logsumexp(VjpContext& ctx) {
  const ReduceAttrs& a = ctx.attrs<ReduceAttrs>();
  const TensorMeta& x = ctx.input_meta(0);
  const Tensor y = with_folded_axes(ctx.output(), x, a);
  const Tensor offset = where(y == -kInfinity, 0.0, y);
  ctx.set(0, with_folded_axes(ctx.grad(), x, a) * exp(ctx.input(0) - offset));
}

const Op kLogsumexp{.name = "logsumexp",
                    .doc = "The logarithm of the summed exponentials along axes, without overflow.",
                    .inputs = "x",
                    .attrs = attr_info<ReduceAttrs>,
                    .flags = {.reduces = true},
                    .infer = infer_floating_reduced,
                    .vjp = vjp_logsumexp,
                    .saves = {Saves{1, 1}},
                    .reference = reference_logsumexp,
                    .samples = sample_reduce};

// --- norm ---
void infer_norm(const InferContext& ctx) {
  infer_floating_reduced(ctx);
  const double p = ctx.attrs<NormAttrs>().p;
  if (!(p > 0)) fail_invalid("norm: p is {}; it must be above 0", p);
}

void reference_norm(const KernelContext& ctx) {
  const double p = ctx.attrs<NormAttrs>().p;
  reference_fold(ctx, [p](auto&& visit) {
    // Divided by the largest, no power overflows.
    double largest = 0, total = 0;
    visit([&](double x) {
      const double size = std::fabs(x);
      largest = size > largest || size != size ? size : largest;
    });
    if (largest == 0 || !std::isfinite(largest) || p == kInfinity) return largest;
    visit([&](double x) { total += std::pow(std::fabs(x) / largest, p); });
    return largest * std::pow(total, 1 / p);
  });
}

// The signs as constants: they are so almost everywhere.
Tensor constant_sign(const Tensor& x) { return sign(make_view(x, x.meta())); }

void vjp_norm(VjpContext& ctx) {
  const NormAttrs& a = ctx.attrs<NormAttrs>();
  const Tensor& x = ctx.input(0);
  const Tensor y = with_folded_axes(ctx.output(), x.meta(), a);
  const Tensor g = with_folded_axes(ctx.grad(), x.meta(), a);
  const Tensor divisor = where(y == 0.0, 1.0, y);
  if (a.p == 2) {
    ctx.set(0, g / divisor * x);
  } else if (a.p == kInfinity) {
    const Tensor reached = cast(logical_and(abs(x) == y, x != 0.0), x.dtype());
    ctx.set(0, g / maximum(sum(reached, a.axes, true), 1) * (reached * constant_sign(x)));
  } else if (a.p == 1) {
    ctx.set(0, g * constant_sign(x));
  } else {
    // |x| / y to the power of p - 1, with a gradient of 0 and not infinity where x is 0.
    const Tensor is_zero = x == 0.0;
    const Tensor ratio = where(is_zero, 1.0, abs(x) / divisor);
    ctx.set(0, g * where(is_zero, 0.0, constant_sign(x) * pow(ratio, a.p - 1)));
  }
}

void sample_norm(Samples& s) {
  s.add({s.spread({3, 4})}, NormAttrs{{{0, 1}, false}, 2});
  s.add({s.spread({3, 4})}, NormAttrs{{{1}, true}, 1});
  s.add({s.spread({2, 3, 4})}, NormAttrs{{{0, 2}, false}, 3.5});
  s.add({transpose(s.spread({4, 3}))}, NormAttrs{{{0}, false}, kInfinity});
  s.add({s.spread({}, 0.5, 1)}, NormAttrs{{{}, false}, 0.5});
  s.add({s.spread({0, 3})}, NormAttrs{{{1}, false}, 2});
}

const Op kNorm{.name = "norm",
               .doc = "The p-norm along axes; its gradient at 0 is 0.",
               .inputs = "x",
               .attrs = attr_info<NormAttrs>,
               .flags = {.reduces = true},
               .infer = infer_norm,
               .vjp = vjp_norm,
               .saves = {Saves{1, 1}},
               .reference = reference_norm,
               .samples = sample_norm};

}  // namespace

Tensor logsumexp(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kLogsumexp, reduce_attrs("logsumexp", x, axes, keepdims), x);
}

Tensor norm(const Tensor& x, const NormOptions& options) {
  const ReduceAttrs a = reduce_attrs("norm", x, options.axes, options.keepdims);
  return call(kNorm, NormAttrs{a, options.p}, x);
}

std::span<const Op* const> norm_reduction_rows() {
  static constexpr const Op* rows[] = {&kLogsumexp, &kNorm};
  return rows;
}

}  // namespace thalweg
