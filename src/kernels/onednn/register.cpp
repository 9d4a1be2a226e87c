#include "kernels/onednn/register.h"

#include "kernels/cpu.h"

namespace thalweg {

void register_onednn_kernels() {
  onednn::register_matmul();
  onednn::register_conv();
}

}  // namespace thalweg
