// Registers the kernels for 3 x 3 windows.

#include "kernels/conv/operands.h"
#include "kernels/conv/winograd.h"
#include "kernels/cpu.h"
#include "kernels/simd/targets.h"
#include "ops/compose.h"

namespace thalweg {
namespace {

const char* refuse(const KernelContext& ctx) {
  if (ctx.in(0).meta.dtype != DType::f32) return "needs f32";
  if (ctx.in(0).meta.size() == 0 || ctx.out().meta.size() == 0) return "an empty tensor";
  return conv::winograd::refuse(conv_problem(ctx));
}

void forward(const KernelContext& ctx) {
  const conv::Bias<float> bias(ctx);
  conv::winograd::forward(conv_problem(ctx), ctx.in(0).as<float>(), ctx.in(1).as<float>(),
                          bias.data(), ctx.out().as<float>());
}

void transpose(const KernelContext& ctx) {
  ConvProblem p = conv_problem(ctx);
  const conv::EvenResult<float> y(p, ctx.in(0));
  const conv::Bias<float> bias(ctx);
  conv::winograd::transpose(p, y.data(), ctx.in(1).as<float>(), bias.data(), ctx.out().as<float>());
}

void weight_gradient(const KernelContext& ctx) {
  ConvProblem p = conv_problem(ctx);
  const conv::EvenResult<float> y(p, ctx.in(1));
  conv::winograd::weight_gradient(p, ctx.in(0).as<float>(), y.data(), ctx.out().as<float>());
}

}  // namespace

void register_winograd_kernels() {
  if (!simd::is_supported()) return;
  add_kernel("conv", DeviceKind::cpu, {"winograd", refuse, forward});
  add_kernel("conv_transpose", DeviceKind::cpu, {"winograd", refuse, transpose});
  add_kernel("conv_weight_gradient", DeviceKind::cpu, {"winograd", refuse, weight_gradient});
}

}  // namespace thalweg
