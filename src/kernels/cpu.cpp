#include "kernels/cpu.h"

namespace thalweg {

void register_cpu_kernels() {
  register_gemm_kernels();
  register_conv_kernels();
  register_simd_kernels();
}

}  // namespace thalweg
