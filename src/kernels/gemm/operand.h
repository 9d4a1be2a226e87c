#pragma once

// How the ops' tensors become the operands of products.

#include <optional>

#include <thalweg/tensor/meta.h>

namespace thalweg::gemm {

/// The one stride with which all rows [..., n] of a tensor follow each other, if there is one.
std::optional<int64_t> row_stride(const TensorMeta& meta);

/// Calls f(position in a, position in b, index) for each matrix of a batched product: positions, in
/// elements, of the operands' matrices, which broadcast over the leading axes of `out`.
struct BatchPositions {
  const TensorMeta &out, &a, &b;

  int64_t count() const;
  int64_t in_a(int64_t index) const { return position(a, index); }
  int64_t in_b(int64_t index) const { return position(b, index); }

 private:
  int64_t position(const TensorMeta& operand, int64_t index) const;
};

}  // namespace thalweg::gemm
