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

DType sum_dtype(DType dtype) { return is_floating(dtype) ? dtype : DType::i64; }

void infer_sum(const InferContext& ctx) {
  infer_reduced(ctx);
  ctx.out().dtype = sum_dtype(ctx.in(0).dtype);
}

void infer_mean(const InferContext& ctx) {
  require_floating(ctx, 0);
  infer_reduced(ctx);
}

template <typename T>
using Accumulator = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, int64_t>;

template <bool kMean>
void reference_sum(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Sum = Accumulator<T>;
    using Out = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, T, int64_t>;
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

// A gradient over reduced axes, repeated over the elements that were folded.
Tensor spread_back(const Tensor& g, const TensorMeta& x, const ReduceAttrs& a) {
  return broadcast_to(a.keepdims ? g : reshape(g, reduced_shape(x.shape, a.axes, true)), x.shape);
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
               .infer = infer_mean,
               .vjp =
                   [](VjpContext& ctx) {
                     const TensorMeta& x = ctx.input_meta(0);
                     const double count = static_cast<double>(x.size()) /
                                          static_cast<double>(ctx.output_meta().size());
                     ctx.set(0, spread_back(ctx.grad() * (1 / count), x, ctx.attrs<ReduceAttrs>()));
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
