// where, clip, cast and logical_not: point-wise ops whose operands have more than one dtype or an
// attribute.

#include "ops/select.h"

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/pointwise_reference.h"
#include "ops/samples.h"
#include "ops/table.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

// --- where ---
void infer_where(const InferContext& ctx) {
  if (ctx.in(0).dtype != DType::boolean) {
    fail_invalid("where: the condition is {}; it must be bool; compare first",
                 name(ctx.in(0).dtype));
  }
  require_same_dtype(ctx, 1, 2);
  infer_broadcast_of(ctx, {1, 2, 0});
  ctx.out().dtype = ctx.in(1).dtype;
}

template <typename T>
void where_row(const PointwiseRow& row) {
  for (int64_t i = 0; i < row.n; ++i) {
    const bool pick = row.in[0][i * row.in_stride[0]] != 0;
    const size_t k = pick ? 1 : 2;
    std::memcpy(row.out + i * row.out_stride, row.in[k] + i * row.in_stride[k], sizeof(T));
  }
}

void reference_where(const KernelContext& ctx) {
  visit_dtype(ctx.out().meta.dtype,
              [&](auto zero) { pointwise_loop(ctx, where_row<decltype(zero)>, kReferenceNs); });
}

void vjp_where(VjpContext& ctx) {
  const Tensor& condition = ctx.input(0);
  if (ctx.needs(1)) ctx.set(1, sum_to(where(condition, ctx.grad(), 0.0), ctx.input_meta(1).shape));
  if (ctx.needs(2)) ctx.set(2, sum_to(where(condition, 0.0, ctx.grad()), ctx.input_meta(2).shape));
}

void sample_where(Samples& s) {
  s.add({s.booleans({3, 4}), s.spread({3, 4}), s.spread({3, 4})});
  s.add({s.booleans({3, 1}), s.spread({}), s.spread({1, 4})});
  s.add({s.booleans({0}), s.spread({1}), s.spread({})});
}

const Op kWhere{.name = "where",
                .doc = "Elements of a where the condition holds, else of b.",
                .inputs = "condition, a, b",
                .flags = {.pointwise = true},
                .infer = infer_where,
                .vjp = vjp_where,
                .saves = {Saves{}, Saves{1, 0}, Saves{1, 0}},
                .reference = reference_where,
                .samples = sample_where};

// --- clip ---
void infer_clip(const InferContext& ctx) {
  require_number(ctx, 0);
  const ClipAttrs& a = ctx.attrs<ClipAttrs>();
  if (!(a.low <= a.high)) fail_invalid("clip: low {} is above high {}", a.low, a.high);
  infer_like_input(ctx);
}

void reference_clip(const KernelContext& ctx) {
  visit_dtype(ctx.out().meta.dtype, [&](auto zero) {
    using C = ComputeType<decltype(zero)>;
    const ClipAttrs& a = ctx.attrs<ClipAttrs>();
    const auto* in = ctx.in(0).as<decltype(zero)>();
    auto* out = ctx.out().as<decltype(zero)>();
    const auto clipped = [&](C v) {
      return v < C(a.low) ? C(a.low) : v > C(a.high) ? C(a.high) : v;
    };
    if (ctx.in(0).meta.strides == ctx.out().meta.strides) {
      for (int64_t i = 0; i < ctx.out().meta.size(); ++i) out[i] = clipped(static_cast<C>(in[i]));
      return;
    }
    for_each_row(ctx.out().meta, ctx.in(0).meta,
                 [&](int64_t o, int64_t k, int64_t n, int64_t so, int64_t si) {
                   for (int64_t i = 0; i < n; ++i) {
                     out[o + i * so] = clipped(static_cast<C>(in[k + i * si]));
                   }
                 });
  });
}

void vjp_clip(VjpContext& ctx) {
  const ClipAttrs& a = ctx.attrs<ClipAttrs>();
  const Tensor& x = ctx.input(0);
  const Tensor inside = logical_and(x >= a.low, x <= a.high);
  ctx.set(0, where(inside, ctx.grad(), 0.0));
}

void sample_clip(Samples& s) {
  s.add({s.spread({4, 5})}, ClipAttrs{-1, 1});
  s.add({s.spread({})}, ClipAttrs{0, 0});
  s.add({transpose(s.spread({4, 3}))}, ClipAttrs{-0.5, 2});
  s.add({s.spread({0})}, ClipAttrs{});
}

const Op kClip{.name = "clip",
               .doc = "Elements held between two values.",
               .inputs = "x",
               .attrs = attr_info<ClipAttrs>,
               .flags = {.pointwise = true, .in_place = true},
               .infer = infer_clip,
               .vjp = vjp_clip,
               .saves = {Saves{1, 0}},
               .reference = reference_clip,
               .samples = sample_clip};

// --- cast ---
struct CastAttrs {
  DType dtype = DType::f32;
  static auto fields() { return std::tuple{attr("dtype", &CastAttrs::dtype, "the new dtype")}; }
};

void infer_cast(const InferContext& ctx) {
  infer_like_input(ctx);
  ctx.out().dtype = ctx.attrs<CastAttrs>().dtype;
}

template <typename Out, typename In>
Out convert(In value) {
  if constexpr (std::is_same_v<Out, bool>)
    return static_cast<ComputeType<In>>(value) != 0;
  else
    return static_cast<Out>(static_cast<ComputeType<In>>(value));
}

template <typename In, typename Out>
void cast_row(const PointwiseRow& row) {
  for (int64_t i = 0; i < row.n; ++i) {
    In value;
    std::memcpy(&value, row.in[0] + i * row.in_stride[0], sizeof value);
    const Out result = convert<Out>(value);
    std::memcpy(row.out + i * row.out_stride, &result, sizeof result);
  }
}

void reference_cast(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto from) {
    visit_dtype(ctx.out().meta.dtype, [&](auto to) {
      pointwise_loop(ctx, cast_row<decltype(from), decltype(to)>, kReferenceNs);
    });
  });
}

void vjp_cast(VjpContext& ctx) { ctx.set(0, cast(ctx.grad(), ctx.input_meta(0).dtype)); }

void sample_cast(Samples& s) {
  s.add({s.spread({3, 4})}, CastAttrs{DType::f64});
  s.add({s.spread({2, 3})}, CastAttrs{DType::f32});
  s.add({s.spread({0, 4})}, CastAttrs{DType::f32});
}

const Op kCast{.name = "cast",
               .doc = "Elements converted to another dtype.",
               .inputs = "x",
               .attrs = attr_info<CastAttrs>,
               .flags = {.pointwise = true},
               .infer = infer_cast,
               .vjp = vjp_cast,
               .reference = reference_cast,
               .samples = sample_cast};

// --- logical_not ---
void infer_logical_not(const InferContext& ctx) {
  infer_like_input(ctx);
  ctx.out().dtype = DType::boolean;
}

struct Not {
  template <typename V>
  static bool apply(V x) {
    return x == V(0);
  }
};

const Op kLogicalNot{.name = "logical_not",
                     .doc = "True where an element is 0.",
                     .inputs = "x",
                     .flags = {.pointwise = true},
                     .infer = infer_logical_not,
                     .no_gradient = "it gives bool",
                     .reference = reference_pointwise<Not, Classes::any, 1, bool>,
                     .samples = sample_unary};

}  // namespace

Tensor logical_not(const Tensor& x) { return call(kLogicalNot, NoAttrs{}, x); }

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  if (a.defined() && b.defined() && a.dtype() != b.dtype()) {
    const DType common = promote(a.dtype(), b.dtype());
    return call(kWhere, NoAttrs{}, condition, cast(a, common), cast(b, common));
  }
  return call(kWhere, NoAttrs{}, condition, a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, double b) {
  return where(condition, a, Tensor::full({}, b, {a.dtype(), a.device()}));
}

Tensor where(const Tensor& condition, double a, const Tensor& b) {
  return where(condition, Tensor::full({}, a, {b.dtype(), b.device()}), b);
}

Tensor clip(const Tensor& x, double low, double high) {
  return call(kClip, ClipAttrs{low, high}, x);
}

Tensor cast(const Tensor& x, DType dtype) {
  if (x.defined() && x.dtype() == dtype) return x;
  return call(kCast, CastAttrs{dtype}, x);
}

Tensor leaky_relu(const Tensor& x, double slope) { return prelu(x, slope); }

Tensor Tensor::to(DType dtype) const { return cast(*this, dtype); }

const Tensor& Tensor::assign(const Tensor& source) const {
  const Tensor shaped = source.shape() == shape() ? source : broadcast_to(source, shape());
  const TensorImpl* const in[1] = {shaped.impl()};
  const CastAttrs to{dtype()};
  call_into(kCast, &to, in, *this);
  return *this;
}

const Tensor& Tensor::fill(double value) const {
  return assign(Tensor::full({}, value, {dtype(), device()}));
}

std::span<const Op* const> select_rows() {
  static constexpr const Op* rows[] = {&kWhere, &kClip, &kCast, &kLogicalNot};
  return rows;
}

}  // namespace thalweg
