#include <cmath>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "ops/infer.h"
#include "ops/pointwise_kernels.h"
#include "ops/samples.h"
#include "ops/scalar.h"
#include "ops/table.h"
#include "ops/tensor_num.h"

namespace thalweg {
#include "ops/pointwise_functors-inl.h"

namespace {

namespace saves1 {
constexpr Saves none{}, x{1, 0}, y{0, 1}, xy{1, 1};
}
namespace saves2 {
constexpr Saves none{}, a{1, 0}, b{2, 0}, ab{3, 0}, ay{1, 1}, by{2, 1}, aby{3, 1};
}

constexpr const char* kStepReason =
    "it is constant almost everywhere; use detach() if no gradient is meant";
constexpr const char* kBoolReason = "it gives bool";
constexpr const char* kVjpReason = "it is a fused gradient, used where no second one is wanted";

template <Classes kClasses>
void infer_unary(const InferContext& ctx) {
  if constexpr (kClasses == Classes::floating) require_floating(ctx, 0);
  if constexpr (kClasses == Classes::real) require_number(ctx, 0);
  infer_like_input(ctx);
}

void infer_test(const InferContext& ctx) {
  infer_like_input(ctx);
  ctx.out().dtype = DType::boolean;
}

template <Classes kClasses>
void infer_binary(const InferContext& ctx) {
  if constexpr (kClasses == Classes::floating) require_floating(ctx, 0);
  if constexpr (kClasses == Classes::real) require_number(ctx, 0);
  infer_broadcast(ctx);
}

// The gradient is one fused kernel, or ops when it will be differentiated again.
template <typename F, const Op& kVjpRow>
void unary_vjp(VjpContext& ctx) {
  const Saves saves = ctx.op().saves[0];
  if (ctx.creates_graph()) {
    ctx.set(0, F::gradient(ctx.grad(), ctx.input(0), ctx.output()));
  } else if (saves.inputs && saves.outputs) {
    ctx.set(0, call(kVjpRow, NoAttrs{}, ctx.grad(), ctx.input(0), ctx.output()));
  } else if (saves.inputs) {
    ctx.set(0, call(kVjpRow, NoAttrs{}, ctx.grad(), ctx.input(0)));
  } else if (saves.outputs) {
    ctx.set(0, call(kVjpRow, NoAttrs{}, ctx.grad(), ctx.output()));
  } else {
    ctx.set(0, call(kVjpRow, NoAttrs{}, ctx.grad()));
  }
}

template <typename F>
void binary_vjp(VjpContext& ctx) {
  const Tensor y = ctx.output();
  if (ctx.needs(0)) {
    const Tensor g = F::gradient_a(ctx.grad(), ctx.input(0), ctx.input(1), y);
    ctx.set(0, sum_to(g, ctx.input_meta(0).shape));
  }
  if (ctx.needs(1)) {
    const Tensor g = F::gradient_b(ctx.grad(), ctx.input(0), ctx.input(1), y);
    ctx.set(1, sum_to(g, ctx.input_meta(1).shape));
  }
}

constexpr const char* vjp_inputs(Saves saves) {
  return saves.inputs && saves.outputs ? "grad, x, y"
         : saves.inputs                ? "grad, x"
         : saves.outputs               ? "grad, y"
                                       : "grad";
}

// --- rows ---
#define THALWEG_UNARY(name_, dtypes, saved, forward, gradient, doc_)                         \
  const Op k_##name_##_vjp{.name = #name_ "_vjp",                                            \
                           .doc = "The gradient of " #name_ ".",                             \
                           .inputs = vjp_inputs(saves1::saved),                              \
                           .flags = {.pointwise = true, .in_place = true, .internal = true}, \
                           .infer = infer_broadcast,                                         \
                           .no_gradient = kVjpReason,                                        \
                           .reference = pointwise_kernels::name_##_vjp};                     \
  const Op k_##name_{.name = #name_,                                                         \
                     .doc = doc_,                                                            \
                     .inputs = "x",                                                          \
                     .flags = {.pointwise = true, .in_place = true},                         \
                     .infer = infer_unary<Classes::dtypes>,                                  \
                     .vjp = unary_vjp<pointwise::name_, k_##name_##_vjp>,                    \
                     .saves = {saves1::saved},                                               \
                     .reference = pointwise_kernels::name_,                                  \
                     .samples = sample_unary};
#define THALWEG_UNARY_STEP(name_, dtypes, forward, doc_)             \
  const Op k_##name_{.name = #name_,                                 \
                     .doc = doc_,                                    \
                     .inputs = "x",                                  \
                     .flags = {.pointwise = true, .in_place = true}, \
                     .infer = infer_unary<Classes::dtypes>,          \
                     .no_gradient = kStepReason,                     \
                     .reference = pointwise_kernels::name_,          \
                     .samples = sample_unary};
#define THALWEG_UNARY_TEST(name_, forward, doc_)            \
  const Op k_##name_{.name = #name_,                        \
                     .doc = doc_,                           \
                     .inputs = "x",                         \
                     .flags = {.pointwise = true},          \
                     .infer = infer_test,                   \
                     .no_gradient = kBoolReason,            \
                     .reference = pointwise_kernels::name_, \
                     .samples = sample_unary};
#define THALWEG_BINARY(name_, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc_) \
  const Op k_##name_{.name = #name_,                                                           \
                     .doc = doc_,                                                              \
                     .inputs = "a, b",                                                         \
                     .flags = {.pointwise = true, .in_place = true},                           \
                     .infer = infer_binary<Classes::dtypes>,                                   \
                     .vjp = binary_vjp<pointwise::name_>,                                      \
                     .saves = {saves2::saved_a, saves2::saved_b},                              \
                     .reference = pointwise_kernels::name_,                                    \
                     .samples = sample_binary};
#define THALWEG_BINARY_STEP(name_, dtypes, forward, doc_)            \
  const Op k_##name_{.name = #name_,                                 \
                     .doc = doc_,                                    \
                     .inputs = "a, b",                               \
                     .flags = {.pointwise = true, .in_place = true}, \
                     .infer = infer_binary<Classes::dtypes>,         \
                     .no_gradient = kStepReason,                     \
                     .reference = pointwise_kernels::name_,          \
                     .samples = sample_binary};
#define THALWEG_COMPARE(name_, forward, doc_)               \
  const Op k_##name_{.name = #name_,                        \
                     .doc = doc_,                           \
                     .inputs = "a, b",                      \
                     .flags = {.pointwise = true},          \
                     .infer = infer_broadcast_bool,         \
                     .no_gradient = kBoolReason,            \
                     .reference = pointwise_kernels::name_, \
                     .samples = sample_binary};
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE

// --- arguments ---

Tensor to_class(const Tensor& x, Classes classes) {
  return classes == Classes::floating && !is_floating(x.dtype()) ? cast(x, DType::f32) : x;
}

Tensor call_unary(const Op& op, Classes classes, const Tensor& x) {
  if (classes == Classes::floating && x.defined() && !is_floating(x.dtype())) {
    return call(op, NoAttrs{}, cast(x, DType::f32));
  }
  return call(op, NoAttrs{}, x);
}

Tensor call_binary(const Op& op, Classes classes, const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined() ||
      (a.dtype() == b.dtype() && (classes != Classes::floating || is_floating(a.dtype())))) {
    return call(op, NoAttrs{}, a, b);
  }
  const DType common = promote(a.dtype(), b.dtype());
  return call(op, NoAttrs{}, to_class(cast(a, common), classes),
              to_class(cast(b, common), classes));
}

// A number beside `x`: in x's dtype, or f32 where that is not floating and the number is a
// fraction.
Tensor number_like(const Tensor& x, double value) {
  if (!x.defined()) return Tensor();
  DType dtype = x.dtype();
  if (!is_floating(dtype)) {
    if (value != std::trunc(value))
      dtype = DType::f32;
    else if (dtype == DType::boolean && value != 0 && value != 1)
      dtype = DType::i64;
  }
  return Tensor::full({}, value, {dtype, x.device()});
}

}  // namespace

// --- public functions ---
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) \
  Tensor name(const Tensor& x) { return call_unary(k_##name, Classes::dtypes, x); }
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) \
  Tensor name(const Tensor& x) { return call_unary(k_##name, Classes::dtypes, x); }
#define THALWEG_UNARY_TEST(name, forward, doc) \
  Tensor name(const Tensor& x) { return call_unary(k_##name, Classes::any, x); }
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc)                         \
  Tensor name(const Tensor& a, const Tensor& b) {                               \
    return call_binary(k_##name, Classes::dtypes, a, b);                        \
  }                                                                             \
  Tensor name(const Tensor& a, double b) { return name(a, number_like(a, b)); } \
  Tensor name(double a, const Tensor& b) { return name(number_like(b, a), b); }
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  THALWEG_BINARY_STEP(name, dtypes, forward, doc)
#define THALWEG_COMPARE(name, forward, doc) THALWEG_BINARY_STEP(name, any, forward, doc)
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE

namespace {
void binary_in_place(const Op& op, const Tensor& a, const Tensor& b) {
  const Tensor other = b.dtype() == a.dtype() ? b : cast(b, a.dtype());
  const TensorImpl* const in[2] = {a.impl(), other.impl()};
  const NoAttrs none;
  call_into(op, &none, in, a);
}
}  // namespace

#define THALWEG_IN_PLACE(symbol, row)                               \
  const Tensor& operator symbol(const Tensor& a, const Tensor& b) { \
    binary_in_place(row, a, b);                                     \
    return a;                                                       \
  }                                                                 \
  const Tensor& operator symbol(const Tensor& a, double b) {        \
    return a symbol Tensor::full({}, b, {a.dtype(), a.device()});   \
  }
THALWEG_IN_PLACE(+=, k_add)
THALWEG_IN_PLACE(-=, k_sub)
THALWEG_IN_PLACE(*=, k_mul)
THALWEG_IN_PLACE(/=, k_div)
#undef THALWEG_IN_PLACE

std::span<const Op* const> pointwise_rows() {
  static constexpr const Op* rows[] = {
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) &k_##name, &k_##name##_vjp,
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) &k_##name,
#define THALWEG_UNARY_TEST(name, forward, doc) &k_##name,
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  &k_##name,
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc) &k_##name,
#define THALWEG_COMPARE(name, forward, doc) &k_##name,
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE
  };
  return rows;
}

}  // namespace thalweg
