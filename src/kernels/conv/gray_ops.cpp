// Registers the kernels for images with one channel.

#include "kernels/conv/gray.h"
#include "kernels/conv/operands.h"
#include "kernels/cpu.h"
#include "kernels/simd/targets.h"
#include "ops/compose.h"

namespace thalweg {
namespace {

const char* refuse(const KernelContext& ctx) {
  if (ctx.in(0).meta.dtype != DType::f32) return "needs f32";
  if (ctx.in(0).meta.size() == 0 || ctx.out().meta.size() == 0) return "an empty tensor";
  return conv::gray::refuse(conv_problem(ctx));
}

void forward(const KernelContext& ctx) {
  const conv::Bias<float> bias(ctx);
  conv::gray::forward(conv_problem(ctx), ctx.in(0).as<float>(), ctx.in(1).as<float>(), bias.data(),
                      ctx.out().as<float>());
}

void weight_gradient(const KernelContext& ctx) {
  ConvProblem p = conv_problem(ctx);
  const conv::EvenResult<float> y(p, ctx.in(1));
  conv::gray::weight_gradient(p, ctx.in(0).as<float>(), y.data(), ctx.out().as<float>());
}

}  // namespace

void register_gray_conv_kernels() {
  if (!simd::is_supported()) return;
  add_kernel("conv", DeviceKind::cpu, {"gray", refuse, forward});
  add_kernel("conv_weight_gradient", DeviceKind::cpu, {"gray", refuse, weight_gradient});
}

}  // namespace thalweg
