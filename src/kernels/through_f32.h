#pragma once

#include <array>

#include <thalweg/ops/op.h>

namespace thalweg {

/// A call on halves as one on f32: copies of those inputs that are halves, and outputs that are
/// rounded in the end. For kernels that have no halves of their own; their sums are f32 throughout.
class ThroughF32 {
 public:
  explicit ThroughF32(const KernelContext& ctx);
  KernelContext context() const;
  /// Writes the outputs of the real call.
  void finish() const;

 private:
  static constexpr size_t kMost = 20;

  const KernelContext& ctx_;
  std::array<IntrusivePtr<TensorImpl>, kMost> kept_;
  std::array<const TensorImpl*, kMost> inputs_{};
  std::array<TensorImpl*, kMost> outputs_{};
  size_t n_kept_ = 0;
};

/// Runs `kernel`, which takes f32, on a call of f32 or of halves.
template <void (*kKernel)(const KernelContext&)>
void run_through_f32(const KernelContext& ctx) {
  if (!is_half(ctx.in(0).meta.dtype)) return kKernel(ctx);
  const ThroughF32 call(ctx);
  kKernel(call.context());
  call.finish();
}

}  // namespace thalweg
