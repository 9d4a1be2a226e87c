// The ops of the convolution family on products of patches.

#include "kernels/conv/columns_conv.h"
#include "kernels/conv/operands.h"
#include "kernels/cpu.h"
#include "kernels/simd/targets.h"
#include "kernels/through_f32.h"
#include "ops/compose.h"
#include "ops/conv.h"

namespace thalweg {
namespace {

template <typename T>
void run_conv(const KernelContext& ctx) {
  const ConvProblem p = conv_problem(ctx);
  const conv::Bias<T> bias(ctx);
  conv::forward(p, ctx.in(0).as<T>(), ctx.in(1).as<T>(), bias.data(), ctx.out().as<T>());
}

template <typename T>
void run_conv_transpose(const KernelContext& ctx) {
  ConvProblem p = conv_problem(ctx);
  const conv::EvenResult<T> y(p, ctx.in(0));
  const conv::Bias<T> bias(ctx);
  conv::transpose(p, y.data(), ctx.in(1).as<T>(), bias.data(), ctx.out().as<T>());
}

template <typename T>
void run_conv_weight_gradient(const KernelContext& ctx) {
  ConvProblem p = conv_problem(ctx);
  const conv::EvenResult<T> y(p, ctx.in(1));
  conv::weight_gradient(p, ctx.in(0).as<T>(), y.data(), ctx.out().as<T>());
}

template <void (*kF32)(const KernelContext&), void (*kF64)(const KernelContext&)>
void run_by_dtype(const KernelContext& ctx) {
  if (ctx.out().meta.size() == 0) return;
  ctx.in(0).meta.dtype == DType::f64 ? kF64(ctx) : run_through_f32<kF32>(ctx);
}

}  // namespace

void register_conv_kernels() {
  if (!simd::is_supported()) return;
  add_kernel("conv", DeviceKind::cpu,
             {"patches", nullptr, run_by_dtype<run_conv<float>, run_conv<double>>});
  add_kernel(
      "conv_transpose", DeviceKind::cpu,
      {"patches", nullptr, run_by_dtype<run_conv_transpose<float>, run_conv_transpose<double>>});
  add_kernel("conv_weight_gradient", DeviceKind::cpu,
             {"patches", nullptr,
              run_by_dtype<run_conv_weight_gradient<float>, run_conv_weight_gradient<double>>});
}

}  // namespace thalweg
