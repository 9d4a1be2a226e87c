// The composition root: the one place that knows all rooms.

#include "kernels/cpu.h"
#if THALWEG_WITH_CUDA
#include "kernels/cuda.h"
#endif
#include "ops/compose.h"

namespace thalweg {

void compose() {
  register_cpu_kernels();
#if THALWEG_WITH_CUDA
  register_cuda_kernels();
#endif
  add_reference_kernels();
}

}  // namespace thalweg
