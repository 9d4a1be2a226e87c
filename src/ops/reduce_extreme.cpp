// max, min and their positions.

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "ops/reduce.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

void infer_extreme(const InferContext& ctx) {
  require_elements(ctx, ctx.attrs<ReduceAttrs>().axes);
  infer_reduced(ctx);
}

void infer_position(const InferContext& ctx) {
  infer_extreme(ctx);
  ctx.out().dtype = DType::i64;
}

// True if `candidate` takes the place of `best`: never of an equal one or of NaN, so that the first
// stays.
template <bool kMax, typename C>
bool wins(C candidate, C best) {
  if (best != best) return false;
  return candidate != candidate || (kMax ? candidate > best : candidate < best);
}

// f(out, best element, its position among the folded ones)
template <bool kMax, typename T, typename F>
void find_extremes(const KernelContext& ctx, F&& f) {
  const T* in = ctx.in(0).as<T>();
  for_each_reduction(ctx, [&](int64_t o, const ReducedElements& elements) {
    T best{};
    int64_t next = 0, best_at = 0;
    elements.visit([&](int64_t i) {
      if (next == 0 || wins<kMax>(ComputeType<T>(in[i]), ComputeType<T>(best))) {
        best = in[i];
        best_at = next;
      }
      ++next;
    });
    f(o, best, best_at);
  });
}

template <bool kMax>
void reference_extreme(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = ctx.out().as<T>();
    find_extremes<kMax, T>(ctx, [&](int64_t o, T best, int64_t) { out[o] = best; });
  });
}

template <bool kMax>
void reference_position(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    int64_t* out = ctx.out().as<int64_t>();
    find_extremes<kMax, T>(ctx, [&](int64_t o, T, int64_t position) { out[o] = position; });
  });
}

void vjp_extreme(VjpContext& ctx) {
  const ReduceAttrs& a = ctx.attrs<ReduceAttrs>();
  const TensorMeta& x = ctx.input_meta(0);
  const Tensor best = with_folded_axes(ctx.output(), x, a);
  const Tensor reached = cast(ctx.input(0) == best, x.dtype);
  ctx.set(0, with_folded_axes(ctx.grad(), x, a) / sum(reached, a.axes, true) * reached);
}

void sample_position(Samples& s) {
  s.add({s.spread({3, 4})}, ReduceAttrs{{0, 1}, false});
  s.add({s.spread({3, 4})}, ReduceAttrs{{1}, true});
  s.add({s.spread({2, 3, 4})}, ReduceAttrs{{1}, false});
  s.add({s.spread({})}, ReduceAttrs{});
  s.add({s.spread({0, 3})}, ReduceAttrs{{1}, false});
  s.add({transpose(s.spread({4, 3}))}, ReduceAttrs{{0}, false});
}

constexpr const char* kPositionReason = "it gives positions, which are integers";

const Op kMax{.name = "max",
              .doc = "The largest element along axes; elements that tie share the gradient.",
              .inputs = "x",
              .attrs = attr_info<ReduceAttrs>,
              .flags = {.reduces = true},
              .infer = infer_extreme,
              .vjp = vjp_extreme,
              .saves = {Saves{1, 1}},
              .reference = reference_extreme<true>,
              .samples = sample_reduce};

const Op kMin{.name = "min",
              .doc = "The smallest element along axes; elements that tie share the gradient.",
              .inputs = "x",
              .attrs = attr_info<ReduceAttrs>,
              .flags = {.reduces = true},
              .infer = infer_extreme,
              .vjp = vjp_extreme,
              .saves = {Saves{1, 1}},
              .reference = reference_extreme<false>,
              .samples = sample_reduce};

const Op kArgmax{.name = "argmax",
                 .doc = "The row-major position of the largest element along axes.",
                 .inputs = "x",
                 .attrs = attr_info<ReduceAttrs>,
                 .flags = {.reduces = true},
                 .infer = infer_position,
                 .no_gradient = kPositionReason,
                 .reference = reference_position<true>,
                 .samples = sample_position};

const Op kArgmin{.name = "argmin",
                 .doc = "The row-major position of the smallest element along axes.",
                 .inputs = "x",
                 .attrs = attr_info<ReduceAttrs>,
                 .flags = {.reduces = true},
                 .infer = infer_position,
                 .no_gradient = kPositionReason,
                 .reference = reference_position<false>,
                 .samples = sample_position};

}  // namespace

Tensor max(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kMax, reduce_attrs("max", x, axes, keepdims), x);
}

Tensor min(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kMin, reduce_attrs("min", x, axes, keepdims), x);
}

Tensor argmax(const Tensor& x, int64_t axis, bool keepdims) {
  return call(kArgmax, reduce_attrs("argmax", x, {axis}, keepdims), x);
}

Tensor argmax(const Tensor& x) { return call(kArgmax, reduce_attrs("argmax", x, {}, false), x); }

Tensor argmin(const Tensor& x, int64_t axis, bool keepdims) {
  return call(kArgmin, reduce_attrs("argmin", x, {axis}, keepdims), x);
}

Tensor argmin(const Tensor& x) { return call(kArgmin, reduce_attrs("argmin", x, {}, false), x); }

std::span<const Op* const> extreme_rows() {
  static constexpr const Op* rows[] = {&kMax, &kMin, &kArgmax, &kArgmin};
  return rows;
}

}  // namespace thalweg
