#pragma once

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Product of a sparse matrix in compressed rows (CSR) with a dense one, [R, K] @ [K, N] -> [R, N]:
/// row r has the values [row_starts[r], row_starts[r + 1]) of `values` [S], in `columns` [S];
/// row_starts is [R + 1]. Columns and row_starts are integers, and both dense and sparse operands
/// get gradients. Sums are made in f64. Throws Error{invalid} for parts that do not fit together.
THALWEG_API Tensor csr_matmul(const Tensor& values, const Tensor& columns, const Tensor& row_starts,
                              const Tensor& weight);

}  // namespace thalweg
