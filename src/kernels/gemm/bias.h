#pragma once

#include <cstdint>

namespace thalweg::gemm {

/// c[i * ldc + j] += bias[j * stride], for a tile of C that has just been written.
void add_bias(const float* bias, int64_t stride, int64_t rows, int64_t columns, float* c,
              int64_t ldc);
void add_bias(const double* bias, int64_t stride, int64_t rows, int64_t columns, double* c,
              int64_t ldc);

}  // namespace thalweg::gemm
