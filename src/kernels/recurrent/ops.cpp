// The ops recurrent and recurrent_vjp on products per time and our own SIMD.

#include "kernels/cpu.h"
#include "kernels/recurrent/layer.h"
#include "kernels/simd/targets.h"
#include "kernels/through_f32.h"
#include "ops/compose.h"
#include "ops/recurrent.h"

namespace thalweg {
namespace {

sequence::CellTable<float> g_f32;
sequence::CellTable<double> g_f64;

const char* refuse(const KernelContext& ctx) {
  return ctx.out(RecurrentOut::y).meta.size() == 0 ? "there is nothing to do" : nullptr;
}

const char* refuse_vjp(const KernelContext& ctx) {
  using In = RecurrentVjpIn;
  if (ctx.in(In::y).meta.size() == 0) return "there is nothing to do";
  const bool inner = ctx.has(In::grad_activations) || ctx.has(In::grad_cells);
  return inner ? "makes no second gradients" : nullptr;
}

RecurrentCell cell_of(const KernelContext& ctx) { return ctx.attrs<RecurrentAttrs>().cell; }

void forward_f32(const KernelContext& ctx) { sequence::forward(ctx, g_f32[cell_of(ctx)]); }
void backward_f32(const KernelContext& ctx) { sequence::backward(ctx, g_f32[cell_of(ctx)]); }

void run_forward(const KernelContext& ctx) {
  if (ctx.out().meta.dtype == DType::f64) return sequence::forward(ctx, g_f64[cell_of(ctx)]);
  run_through_f32<forward_f32>(ctx);
}

void run_backward(const KernelContext& ctx) {
  if (ctx.out().meta.dtype == DType::f64) return sequence::backward(ctx, g_f64[cell_of(ctx)]);
  run_through_f32<backward_f32>(ctx);
}

}  // namespace

void register_recurrent_kernels() {
  if (!simd::is_supported()) return;
  sequence::fill_cells(g_f32, g_f64);
  add_kernel("recurrent", DeviceKind::cpu, {"stepped", refuse, run_forward});
  add_kernel("recurrent_vjp", DeviceKind::cpu, {"stepped", refuse_vjp, run_backward});
}

}  // namespace thalweg
