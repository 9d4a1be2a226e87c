// cumsum.

#include <thalweg/ops/call.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "ops/infer.h"
#include "ops/reduce.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

struct CumsumAttrs {
  int64_t axis = 0;
  bool reverse = false;
  static auto fields() {
    return std::tuple{attr("axis", &CumsumAttrs::axis, "the axis that is summed along"),
                      attr("reverse", &CumsumAttrs::reverse, "sum from the last element on")};
  }
};

void infer_cumsum(const InferContext& ctx) {
  axis_of(ctx, ctx.attrs<CumsumAttrs>().axis, ctx.in(0).shape.size());
  infer_like_input(ctx);
  if (!is_floating(ctx.in(0).dtype)) ctx.out().dtype = DType::i64;
}

void reference_cumsum(const KernelContext& ctx) {
  const TensorMeta &x = ctx.in(0).meta, &y = ctx.out().meta;
  const CumsumAttrs& a = ctx.attrs<CumsumAttrs>();
  const size_t axis = axis_of(ctx, a.axis, x.shape.size());
  const int64_t n = x.shape[axis], first = a.reverse ? n - 1 : 0, step = a.reverse ? -1 : 1;
  visit_dtype(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = ctx.in(0).as<T>();
    auto* out = ctx.out().as<SumElement<T>>();
    for_each_position<2>({&x, &y}, axis, [&](const auto& lane) {
      SumType<T> total = 0;
      for (int64_t k = 0, i = first; k < n; ++k, i += step) {
        total +=
            static_cast<SumType<T>>(static_cast<ComputeType<T>>(in[lane[0] + i * x.strides[axis]]));
        out[lane[1] + i * y.strides[axis]] = static_cast<SumElement<T>>(total);
      }
    });
  });
}

void vjp_cumsum(VjpContext& ctx);

void sample_cumsum(Samples& s) {
  s.add({s.spread({5})}, CumsumAttrs{0, false});
  s.add({s.spread({3, 4})}, CumsumAttrs{-1, true});
  s.add({transpose(s.spread({2, 3, 4}))}, CumsumAttrs{1, false});
  s.add({s.spread({2, 0})}, CumsumAttrs{1, false});
}

const Op kCumsum{.name = "cumsum",
                 .doc = "The sums of the elements up to each one along an axis.",
                 .inputs = "x",
                 .attrs = attr_info<CumsumAttrs>,
                 .infer = infer_cumsum,
                 .vjp = vjp_cumsum,
                 .reference = reference_cumsum,
                 .samples = sample_cumsum};

void vjp_cumsum(VjpContext& ctx) {
  CumsumAttrs a = ctx.attrs<CumsumAttrs>();
  a.reverse = !a.reverse;
  ctx.set(0, call(kCumsum, a, ctx.grad()));
}

}  // namespace

Tensor cumsum(const Tensor& x, int64_t axis) { return call(kCumsum, CumsumAttrs{axis, false}, x); }

std::span<const Op* const> scan_rows() {
  static constexpr const Op* rows[] = {&kCumsum};
  return rows;
}

}  // namespace thalweg
