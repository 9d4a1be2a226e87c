#pragma once

#include "kernels/gemm/product.h"

namespace thalweg::gemm {

/// Copies a rows x columns matrix to row-major order with row stride `ld`.
void pack(const Matrix<float>& from, int64_t rows, int64_t columns, float* to, int64_t ld);
void pack(const Matrix<double>& from, int64_t rows, int64_t columns, double* to, int64_t ld);

}  // namespace thalweg::gemm
