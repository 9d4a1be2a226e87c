#pragma once

// The root of the sum of squares over many tensors. Each block has a partial sum, which the
// launches for parts of the tensors add to; the order depends on nothing but the sizes.

#include "kernels/cuda/device/elements.cuh"

namespace thalweg::cuda {

/// The sum over a block of 256 threads, for its first thread.
inline double block_sum(double value) {
  __shared__ double parts[256];
  const int thread = threadIdx.x;
  parts[thread] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (thread < half) parts[thread] += parts[thread + half];
    __syncthreads();
  }
  return parts[0];
}

template <typename T>
void add_squares(const NormArgs& args) {
  double total = 0;
  for (int t = 0; t < args.tensors; ++t) {
    const T* data = reinterpret_cast<const T*>(args.data[t]);
    for (int64_t i = first_item(); i < args.count[t]; i += item_step()) {
      const auto x = static_cast<double>(static_cast<ComputeType<T>>(data[i]));
      total += x * x;
    }
  }
  total = block_sum(total);
  if (threadIdx.x == 0)
    args.partial_sums[blockIdx.x] = args.starts ? total : args.partial_sums[blockIdx.x] + total;
}

/// One block.
inline void norm_root(const NormArgs& args) {
  double total = 0;
  for (int i = threadIdx.x; !args.starts && i < NormArgs::kPartialSums; i += 256)
    total += args.partial_sums[i];
  total = block_sum(total);
  if (threadIdx.x == 0) *args.out = std::sqrt(total);
}

}  // namespace thalweg::cuda
