#pragma once

// What kernels of several point-wise ops are pasted from.

#include "kernels/cuda/device/pointwise.cuh"

namespace thalweg::cuda {

/// A result as it would be read back from memory: rounded to its dtype.
template <typename T, typename V>
Scalar<ComputeType<T>> rounded(V result) {
  T element;
  store<T>(reinterpret_cast<char*>(&element), result);
  return static_cast<ComputeType<T>>(element);
}

}  // namespace thalweg::cuda
