// var and std.

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

struct MomentAttrs : ReduceAttrs {
  int64_t correction = 0;
  static auto fields() {
    return std::tuple_cat(
        fields_of<MomentAttrs>(),
        std::tuple{attr("correction", &MomentAttrs::correction, "taken off the divisor")});
  }
};

void infer_moment(const InferContext& ctx) {
  const MomentAttrs& a = ctx.attrs<MomentAttrs>();
  infer_floating_reduced(ctx);
  const int64_t count = folded_count(ctx.in(0).shape, a.axes);
  if (count <= a.correction && ctx.out().size() > 0) {
    fail_invalid("{}: {} elements along axes {} of shape {} with correction {}; it takes more",
                 ctx.op().name, count, to_string(a.axes), to_string(ctx.in(0).shape), a.correction);
  }
}

template <bool kRoot>
void reference_moment(const KernelContext& ctx) {
  const auto correction = static_cast<double>(ctx.attrs<MomentAttrs>().correction);
  visit_floating(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = ctx.in(0).as<T>();
    T* out = ctx.out().as<T>();
    for_each_reduction(ctx, [&](int64_t o, const ReducedElements& elements) {
      const auto count = static_cast<double>(elements.count());
      double mean = 0, squares = 0;
      elements.visit([&](int64_t i) { mean += as_double(in[i]); });
      mean /= count;
      elements.visit([&](int64_t i) {
        const double distance = as_double(in[i]) - mean;
        squares += distance * distance;
      });
      const double variance = squares / (count - correction);
      out[o] = static_cast<T>(kRoot ? std::sqrt(variance) : variance);
    });
  });
}

// The gradient of var with respect to x for a gradient `g` of var with folded axes.
Tensor var_gradient(const Tensor& g, const Tensor& x, const MomentAttrs& a) {
  const int64_t divisor = folded_count(x.shape(), a.axes) - a.correction;
  return g * (2 / static_cast<double>(divisor)) * (x - mean(x, a.axes, true));
}

void vjp_var(VjpContext& ctx) {
  const MomentAttrs& a = ctx.attrs<MomentAttrs>();
  ctx.set(0, var_gradient(with_folded_axes(ctx.grad(), ctx.input_meta(0), a), ctx.input(0), a));
}

void vjp_std(VjpContext& ctx) {
  const MomentAttrs& a = ctx.attrs<MomentAttrs>();
  const TensorMeta& x = ctx.input_meta(0);
  const Tensor y = with_folded_axes(ctx.output(), x, a);
  const Tensor divisor = where(y == 0.0, 1.0, y);
  const Tensor g = with_folded_axes(ctx.grad(), x, a) * 0.5 / divisor;
  ctx.set(0, var_gradient(g, ctx.input(0), a));
}

MomentAttrs moment_attrs(const char* operation, const Tensor& x, const VarOptions& options) {
  if (options.correction < 0) {
    fail_invalid("{}: correction {} is negative", operation, options.correction);
  }
  return {reduce_attrs(operation, x, options.axes, options.keepdims), options.correction};
}

void sample_moment(Samples& s) {
  s.add({s.spread({3, 4})}, MomentAttrs{{{0, 1}, false}, 0});
  s.add({s.spread({3, 4})}, MomentAttrs{{{1}, true}, 1});
  s.add({s.spread({2, 3, 4}, 1000, 1001)}, MomentAttrs{{{0, 2}, false}, 1});
  s.add({s.spread({0, 3})}, MomentAttrs{{{1}, false}, 0});
  s.add({transpose(s.spread({4, 3}))}, MomentAttrs{{{0}, false}, 2});
}

const Op kVar{.name = "var",
              .doc = "The variance along axes, in two passes.",
              .inputs = "x",
              .attrs = attr_info<MomentAttrs>,
              .flags = {.reduces = true},
              .infer = infer_moment,
              .vjp = vjp_var,
              .saves = {Saves{1, 0}},
              .reference = reference_moment<false>,
              .samples = sample_moment};

const Op kStd{.name = "std",
              .doc = "The standard deviation along axes; its gradient at 0 is 0.",
              .inputs = "x",
              .attrs = attr_info<MomentAttrs>,
              .flags = {.reduces = true},
              .infer = infer_moment,
              .vjp = vjp_std,
              .saves = {Saves{1, 1}},
              .reference = reference_moment<true>,
              .samples = sample_moment};

}  // namespace

Tensor var(const Tensor& x, const VarOptions& options) {
  return call(kVar, moment_attrs("var", x, options), x);
}

Tensor std(const Tensor& x, const VarOptions& options) {
  return call(kStd, moment_attrs("std", x, options), x);
}

std::span<const Op* const> moment_rows() {
  static constexpr const Op* rows[] = {&kVar, &kStd};
  return rows;
}

}  // namespace thalweg
