// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
// clang-format on

#include "kernels/cpu.h"
#include "kernels/simd/dropout.h"
#include "kernels/simd/norm.h"
#include "kernels/simd/optimizer.h"
#include "kernels/simd/pointwise.h"
#include "kernels/simd/pool.h"
#include "kernels/simd/reduce.h"
#include "kernels/simd/softmax.h"

namespace thalweg {

bool simd::is_supported() { return (hwy::SupportedTargets() & HWY_TARGETS) != 0; }

void simd::choose_target() {
  choose_pointwise_target();
  choose_pool_target();
  choose_dropout_target();
  choose_reduce_target();
  choose_optimizer_target();
  choose_softmax_target();
  choose_batch_norm_target();
  choose_layer_norm_target();
}

void register_simd_kernels() {
  if (!simd::is_supported()) return;
  simd::choose_target();
  simd::register_pointwise();
  simd::register_pools();
  simd::register_dropout();
  simd::register_reductions();
  simd::register_optimizers();
  simd::register_softmax();
  simd::register_batch_norm();
  simd::register_layer_norm();
}

}  // namespace thalweg
