// any and all.

#include <thalweg/ops/call.h>
#include <thalweg/ops/reduce.h>

#include "ops/reduce.h"
#include "ops/table.h"

namespace thalweg {
namespace {

void infer_logic(const InferContext& ctx) {
  infer_reduced(ctx);
  ctx.out().dtype = DType::boolean;
}

template <bool kAny>
void reference_logic(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = ctx.in(0).as<T>();
    bool* out = ctx.out().as<bool>();
    for_each_reduction(ctx, [&](int64_t o, const ReducedElements& elements) {
      bool found = false;  // an element that settles it
      elements.visit([&](int64_t i) {
        found = found || (ComputeType<T>(in[i]) != ComputeType<T>(0)) == kAny;
      });
      out[o] = found == kAny;
    });
  });
}

constexpr const char* kReason = "it gives bool";

const Op kAny{.name = "any",
              .doc = "True where one element or more along axes is not 0.",
              .inputs = "x",
              .attrs = attr_info<ReduceAttrs>,
              .flags = {.reduces = true},
              .infer = infer_logic,
              .no_gradient = kReason,
              .reference = reference_logic<true>,
              .samples = sample_reduce};

const Op kAll{.name = "all",
              .doc = "True where no element along axes is 0.",
              .inputs = "x",
              .attrs = attr_info<ReduceAttrs>,
              .flags = {.reduces = true},
              .infer = infer_logic,
              .no_gradient = kReason,
              .reference = reference_logic<false>,
              .samples = sample_reduce};

}  // namespace

Tensor any(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kAny, reduce_attrs("any", x, axes, keepdims), x);
}

Tensor all(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kAll, reduce_attrs("all", x, axes, keepdims), x);
}

std::span<const Op* const> logic_rows() {
  static constexpr const Op* rows[] = {&kAny, &kAll};
  return rows;
}

}  // namespace thalweg
