#include "kernels/simd/pointwise.h"

#include "kernels/simd/half_row.h"
#include "kernels/simd/pointwise_rows.h"
#include "kernels/simd/select_rows.h"
#include "ops/compose.h"
#include "ops/select.h"

namespace thalweg::simd {
namespace {

struct Tables {
  PointwiseTable pointwise;
  SelectTable select;
  Converters converters;
};
Tables g_tables;

// Nanoseconds of an f32 element, measured with AVX-512: they decide from where on a second thread
// helps. What only moves memory is about 0.4.
constexpr double f32_ns(PointwiseId id) {
  switch (id) {
    case PointwiseId::atan2:
    case PointwiseId::remainder:
      return 12;
    case PointwiseId::tan:
    case PointwiseId::cbrt:
    case PointwiseId::pow:
      return 3;
    case PointwiseId::exp:
    case PointwiseId::exp2:
    case PointwiseId::expm1:
    case PointwiseId::log:
    case PointwiseId::log2:
    case PointwiseId::log10:
    case PointwiseId::log1p:
    case PointwiseId::sin:
    case PointwiseId::cos:
    case PointwiseId::asin:
    case PointwiseId::acos:
    case PointwiseId::atan:
    case PointwiseId::sinh:
    case PointwiseId::cosh:
    case PointwiseId::tanh:
    case PointwiseId::asinh:
    case PointwiseId::acosh:
    case PointwiseId::atanh:
    case PointwiseId::erf:
    case PointwiseId::sigmoid:
    case PointwiseId::softplus:
    case PointwiseId::log_sigmoid:
    case PointwiseId::gelu:
    case PointwiseId::gelu_tanh:
    case PointwiseId::silu:
    case PointwiseId::selu:
    case PointwiseId::elu:
    case PointwiseId::logaddexp:
    case PointwiseId::gelu_vjp:
    case PointwiseId::gelu_tanh_vjp:
    case PointwiseId::silu_vjp:
    case PointwiseId::sin_vjp:
    case PointwiseId::cos_vjp:
    case PointwiseId::sinh_vjp:
    case PointwiseId::cosh_vjp:
    case PointwiseId::softplus_vjp:
    case PointwiseId::log_sigmoid_vjp:
    case PointwiseId::erf_vjp:
      return 1.2;
    default:
      return 0.4;
  }
}

void run_half(const KernelContext& ctx, PointwiseRowFn f32, double ns, const void* context) {
  const HalfRow half{f32, ctx.inputs(), ctx.out().meta.dtype == DType::boolean, context,
                     &g_tables.converters};
  const bool is_f16 = ctx.in(0).meta.dtype == DType::f16;
  pointwise_loop(ctx, is_f16 ? f16_row : bf16_row, ns, &half);
}

void run_rows(const KernelContext& ctx, PointwiseRowFn f32, PointwiseRowFn f64, double ns,
              const void* context = nullptr) {
  switch (ctx.in(0).meta.dtype) {
    case DType::f32:
      return pointwise_loop(ctx, f32, ns, context);
    case DType::f64:
      return pointwise_loop(ctx, f64, 2 * ns, context);
    default:
      return run_half(ctx, f32, ns + 0.2, context);
  }
}

template <PointwiseId kId>
void run(const KernelContext& ctx) {
  const PointwiseRows& rows = g_tables.pointwise[kId];
  run_rows(ctx, rows.f32, rows.f64, f32_ns(kId));
}

const char* refuse_integers(const KernelContext& ctx) {
  return is_floating(ctx.in(0).meta.dtype) ? nullptr : "it takes floating elements";
}

// --- clip, where, cast ---

void run_clip(const KernelContext& ctx) {
  const SelectTable& rows = g_tables.select;
  run_rows(ctx, rows.clip_f32, rows.clip_f64, 0.4, &ctx.attrs<ClipAttrs>());
}

void run_where(const KernelContext& ctx) {
  const size_t bytes = item_size(ctx.out().meta.dtype);
  const size_t which = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  pointwise_loop(ctx, g_tables.select.where[which], 0.1 * static_cast<double>(bytes));
}

PointwiseRowFn cast_row(const KernelContext& ctx) {
  return g_tables.select
      .cast[static_cast<int>(ctx.in(0).meta.dtype)][static_cast<int>(ctx.out().meta.dtype)];
}

const char* refuse_cast(const KernelContext& ctx) {
  return cast_row(ctx) ? nullptr : "it converts between floats, and integers to f32";
}

void run_cast(const KernelContext& ctx) { pointwise_loop(ctx, cast_row(ctx), 0.4); }

}  // namespace

void choose_pointwise_target() {
  fill_unary_f32(g_tables.pointwise);
  fill_unary_f64(g_tables.pointwise);
  fill_unary_vjp_f32(g_tables.pointwise);
  fill_unary_vjp_f64(g_tables.pointwise);
  fill_binary_f32(g_tables.pointwise);
  fill_binary_f64(g_tables.pointwise);
  fill_select(g_tables.select);
  fill_cast(g_tables.select);
  fill_converters(g_tables.converters);
}

void register_pointwise() {
  const auto add = [](const char* name, void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cpu, {"simd", refuse_integers, run});
  };
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) \
  add(#name, run<PointwiseId::name>);                              \
  add(#name "_vjp", run<PointwiseId::name##_vjp>);
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) add(#name, run<PointwiseId::name>);
#define THALWEG_UNARY_TEST(name, forward, doc) add(#name, run<PointwiseId::name>);
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  add(#name, run<PointwiseId::name>);
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc) add(#name, run<PointwiseId::name>);
#define THALWEG_COMPARE(name, forward, doc) add(#name, run<PointwiseId::name>);
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE
  add("clip", run_clip);
  add_kernel("where", DeviceKind::cpu, {"simd", nullptr, run_where});
  add_kernel("cast", DeviceKind::cpu, {"simd", refuse_cast, run_cast});
}

}  // namespace thalweg::simd
