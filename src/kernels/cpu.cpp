#include "kernels/cpu.h"

namespace thalweg {

void register_cpu_kernels() {
  register_gray_conv_kernels();
  register_winograd_kernels();
#if THALWEG_WITH_ONEDNN
  register_onednn_kernels();
#endif
  register_gemm_kernels();
  register_attention_kernels();
  register_conv_kernels();
  register_recurrent_kernels();
  register_index_kernels();
  register_simd_kernels();
}

}  // namespace thalweg
