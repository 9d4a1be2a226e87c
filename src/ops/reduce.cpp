#include "ops/reduce.h"

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/samples.h"
#include "ops/scalar.h"
#include "ops/table.h"

namespace thalweg {
namespace {

template <bool kMean>
void reference_sum(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Sum = SumType<T>;
    using Out = SumElement<T>;
    Out* out = ctx.out().as<Out>();
    const T* in = ctx.in(0).as<T>();
    const auto store = [&](int64_t o, Sum total, int64_t count) {
      if constexpr (kMean) total = static_cast<Sum>(total / static_cast<Sum>(count));
      out[o] = static_cast<Out>(total);
    };
    for_each_reduction(ctx, [&](int64_t o, const ReducedElements& elements) {
      Sum total = 0;
      elements.visit(
          [&](int64_t i) { total += static_cast<Sum>(static_cast<ComputeType<T>>(in[i])); });
      store(o, total, elements.count());
    });
  });
}

const Op kSum{.name = "sum",
              .doc = "The sum of the elements along axes.",
              .inputs = "x",
              .attrs = attr_info<ReduceAttrs>,
              .flags = {.reduces = true},
              .infer = infer_sum,
              .vjp =
                  [](VjpContext& ctx) {
                    ctx.set(0,
                            spread_back(ctx.grad(), ctx.input_meta(0), ctx.attrs<ReduceAttrs>()));
                  },
              .reference = reference_sum<false>,
              .samples = sample_reduce};

const Op kMean{.name = "mean",
               .doc = "The arithmetic mean of the elements along axes.",
               .inputs = "x",
               .attrs = attr_info<ReduceAttrs>,
               .flags = {.reduces = true},
               .infer = infer_floating_reduced,
               .vjp =
                   [](VjpContext& ctx) {
                     const TensorMeta& x = ctx.input_meta(0);
                     const ReduceAttrs& a = ctx.attrs<ReduceAttrs>();
                     const auto count = static_cast<double>(folded_count(x.shape, a.axes));
                     ctx.set(0, spread_back(ctx.grad() * (1 / count), x, a));
                   },
               .reference = reference_sum<true>,
               .samples = sample_reduce};

}  // namespace

Tensor sum(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kSum, reduce_attrs("sum", x, axes, keepdims), x);
}

Tensor mean(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kMean, reduce_attrs("mean", x, axes, keepdims), x);
}

std::span<const Op* const> reduce_rows() {
  static constexpr const Op* rows[] = {&kSum, &kMean};
  return rows;
}

}  // namespace thalweg
