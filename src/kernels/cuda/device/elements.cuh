#pragma once

// Elements in memory, and where they are.

#include "kernels/cuda/device/walk.h"
#include "ops/scalar.h"

namespace thalweg::cuda {

template <typename T>
Scalar<ComputeType<T>> load(const char* from) {
  return static_cast<ComputeType<T>>(*reinterpret_cast<const T*>(from));
}

template <typename T, typename V>
void store(char* to, V result) {
  if constexpr (std::is_same_v<V, T>)
    *reinterpret_cast<T*>(to) = result;
  else if constexpr (std::is_arithmetic_v<V>)
    *reinterpret_cast<T*>(to) = static_cast<T>(result);
  else
    *reinterpret_cast<T*>(to) = static_cast<T>(result.v);
}

/// Where position `index` of a walk is in its first kCount operands, in bytes.
template <int kCount>
struct Places {
  int64_t at[kCount];

  template <int kOperands>
  Places(const Walk<kOperands>& walk, int64_t index) {
    for (int k = 0; k < kCount; ++k) at[k] = 0;
    int64_t rest = index;
    for (int d = 0; d + 1 < walk.dims; ++d) {
      const int64_t size = walk.shape[d];
      // Divisions of 64 bits take several times as long.
      const int64_t next = rest >> 32 || size >> 32
                               ? rest / size
                               : static_cast<uint32_t>(rest) / static_cast<uint32_t>(size);
      add(walk, d, rest - next * size);
      rest = next;
    }
    add(walk, walk.dims - 1, rest);
  }

 private:
  template <int kOperands>
  void add(const Walk<kOperands>& walk, int dim, int64_t steps) {
    for (int k = 0; k < kCount; ++k) at[k] += steps * walk.strides[dim][k];
  }
};

/// The first item of this thread, and how far the next one is, in a loop over the whole grid.
inline int64_t first_item() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
inline int64_t item_step() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

}  // namespace thalweg::cuda
