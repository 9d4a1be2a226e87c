#pragma once

// Sums. Each is made in an order that depends on nothing but the sizes.

#include "kernels/cuda/device/elements.cuh"

namespace thalweg::cuda {

/// What elements of type T are summed in, as by the reference; integers wrap around.
template <typename T>
using SumIn = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, uint64_t>;

template <bool kMean, typename Out, typename Sum>
void store_sum(char* to, Sum total, int64_t count) {
  if constexpr (kMean) total = total / static_cast<Sum>(count);
  store<Out>(to, total);
}

/// A block of 256 threads for each result, which walks the folded elements side by side.
template <bool kMean, typename Out, typename T>
void sum_by_blocks(const ReduceArgs& args) {
  using Sum = SumIn<T>;
  __shared__ Sum parts[256];
  const int thread = threadIdx.x;
  for (int64_t r = blockIdx.x; r < args.results.count; r += gridDim.x) {
    const Places<2> places(args.results, r);
    Sum total = 0;
    for (int64_t i = thread; i < args.folded.count; i += 256) {
      const Places<1> at(args.folded, i);
      total += static_cast<Sum>(load<T>(args.in + places.at[1] + at.at[0]).v);
    }
    parts[thread] = total;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (thread < half) parts[thread] += parts[thread + half];
      __syncthreads();
    }
    if (thread == 0) store_sum<kMean, Out>(args.out + places.at[0], parts[0], args.folded.count);
    __syncthreads();
  }
}

/// 32 results side by side, 8 threads for each: for results that are neighbours in memory.
template <bool kMean, typename Out, typename T>
void sum_by_columns(const ReduceArgs& args) {
  using Sum = SumIn<T>;
  __shared__ Sum parts[8][32];
  const int column = threadIdx.x % 32, row = threadIdx.x / 32;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * 32; first < args.results.count;
       first += static_cast<int64_t>(gridDim.x) * 32) {
    const int64_t r = first + column;
    const bool inside = r < args.results.count;
    const Places<2> places(args.results, inside ? r : first);
    Sum total = 0;
    for (int64_t i = row; inside && i < args.folded.count; i += 8) {
      const Places<1> at(args.folded, i);
      total += static_cast<Sum>(load<T>(args.in + places.at[1] + at.at[0]).v);
    }
    parts[row][column] = total;
    __syncthreads();
    if (row == 0 && inside) {
      for (int k = 1; k < 8; ++k) total += parts[k][column];
      store_sum<kMean, Out>(args.out + places.at[0], total, args.folded.count);
    }
    __syncthreads();
  }
}

}  // namespace thalweg::cuda
