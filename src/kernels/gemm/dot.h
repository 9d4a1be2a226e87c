#pragma once

#include <cstdint>

namespace thalweg::gemm {

/// out[i * out_step] (+)= sum over k < n of rows[i * row_step + k] * y[k], for i < count.
void dot_rows(const float* rows, int64_t row_step, int64_t count, const float* y, int64_t n,
              float* out, int64_t out_step, bool adds);
void dot_rows(const double* rows, int64_t row_step, int64_t count, const double* y, int64_t n,
              double* out, int64_t out_step, bool adds);

}  // namespace thalweg::gemm
