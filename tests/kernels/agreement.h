#pragma once

// How far kernels of one op may be apart, and their operands.

#include <vector>

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Relative to the larger of 1 and the value: some units in the last place of the dtype, and for
/// f32 and f64 the error of sums made in another order.
inline double tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-12;
    case DType::f32:
      return 2e-5;
    case DType::f16:
      return 4e-3;
    default:
      return 3e-2;
  }
}

inline std::vector<const TensorImpl*> impls(const std::vector<Tensor>& tensors) {
  std::vector<const TensorImpl*> result;
  for (const Tensor& t : tensors) result.push_back(t.impl());
  return result;
}

}  // namespace thalweg
