#pragma once

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// A gradient that is 0 but for some slices of one axis: what a sparse minibatch, or a few indices,
/// leave of a large matrix.
struct RowGradient {
  int64_t axis = 0;  // of the weight: 0 of an embedding's [V, D], 1 of a dense layer's [units, V]
  Tensor indices;    // i64 [n], ascending, each once: which slices
  Tensor rows;       // [n, ...]: the slices, of the weight's shape without the axis

  bool defined() const noexcept { return rows.defined(); }
  /// The same with its zeros; `shape` is the weight's.
  THALWEG_API Tensor to_dense(const Shape& shape) const;
};

}  // namespace thalweg
