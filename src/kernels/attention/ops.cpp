#include "kernels/attention/tile.h"
#include "kernels/cpu.h"
#include "kernels/simd/targets.h"
#include "ops/compose.h"

namespace thalweg {
namespace {

const char* refuse_some(const KernelContext& ctx, size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i) {
    if (const char* reason = tiled::refuse_heads(ctx.in(i))) return reason;
  }
  return nullptr;
}

const char* refuse_forward(const KernelContext& ctx) {
  const char* reason = refuse_some(ctx, 0, 3);
  return reason ? reason : tiled::refuse_heads(ctx.out());
}

const char* refuse_backward(const KernelContext& ctx) {
  const char* reason = refuse_some(ctx, 0, 5);
  for (size_t i = 0; !reason && i < 3; ++i) reason = tiled::refuse_heads(ctx.out(i));
  return !reason && !ctx.in(5).meta.is_contiguous() ? "the sums must be row-major" : reason;
}

}  // namespace

void register_attention_kernels() {
  if (!simd::is_supported()) return;
  add_kernel("attention", DeviceKind::cpu, {"tiles", refuse_forward, tiled::forward});
  add_kernel("attention_vjp", DeviceKind::cpu, {"tiles", refuse_backward, tiled::backward});
}

}  // namespace thalweg
