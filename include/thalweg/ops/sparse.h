#pragma once

// Products with sparse matrices. The gradient of a dense matrix that is a leaf has the rows (of a
// layer's weight: columns) that the sparse one has values for, and no others: see RowGradient.

#include <thalweg/tensor/csr.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Product of a sparse matrix with a dense one, [..., K] @ [K, N] -> [..., N]. Its values and the
/// dense matrix get gradients; they have one floating dtype. Sums are made in f64. Throws
/// Error{invalid} for parts that do not fit together.
THALWEG_API Tensor matmul(const CsrTensor& a, const Tensor& b);
/// x @ transpose(weight) + bias: x [..., K], weight [N, K], bias [N] or undefined -> [..., N].
THALWEG_API Tensor linear(const CsrTensor& x, const Tensor& weight, const Tensor& bias = {});

/// matmul() of a matrix [R, K] in parts: row r has the values [row_starts[r], row_starts[r + 1]) of
/// `values` [S], in `columns` [S]; row_starts is [R + 1]. Columns and row_starts are integers.
THALWEG_API Tensor csr_matmul(const Tensor& values, const Tensor& columns, const Tensor& row_starts,
                              const Tensor& weight);

}  // namespace thalweg
