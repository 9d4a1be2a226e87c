#include "kernels/cuda.h"
#include "kernels/cuda/kernels.h"

namespace thalweg {

void register_cuda_kernels() {
  cuda::register_pointwise();
  cuda::register_reductions();
  cuda::register_softmax();
  cuda::register_updates();
  cuda::register_norm();
  cuda::register_products();
  cuda::register_fusion();
}

}  // namespace thalweg
