#pragma once

// Reference kernels whose result is summed in an array of doubles first, so that fast kernels have
// an exact yardstick.

#include "ops/reference.h"
#include "tensor/copy.h"

namespace thalweg {

/// Rounds row-major sums to the elements of `out`, of any strides.
template <typename T>
void store_sums(const TensorImpl& out, const Scratch<double>& sums) {
  TensorMeta from = out.meta;
  from.strides = row_major_strides(from.shape);
  for_each_row(out.meta, from, [&](int64_t o, int64_t i, int64_t n, int64_t so, int64_t si) {
    for (int64_t k = 0; k < n; ++k) {
      const double sum = sums[i + k * si];
      out.as<T>()[o + k * so] = static_cast<T>(static_cast<ComputeType<T>>(sum));
    }
  });
}

}  // namespace thalweg
