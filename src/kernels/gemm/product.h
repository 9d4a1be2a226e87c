#pragma once

// Matrix products on the cpu: the blocking that LIBXSMM's kernels, or our own, run in. Work is cut
// into tiles that depend on the shape alone, and no sum is split between tiles, so that any number
// of threads gives the same bits.

#include <cstdint>

#include "ops/by_parts.h"

namespace thalweg::gemm {

/// Element [i, j] is data[i * row + j * column]; any strides, 0 and negative ones included.
template <typename T>
struct Matrix {
  const T* data = nullptr;
  int64_t row = 0;
  int64_t column = 0;
};

/// C [m, n] = A [m, k] B [k, n], plus bias [n] in each row if there is one; or C += A B. C is
/// row-major and overlaps no operand.
template <typename T>
struct Product {
  int64_t m = 0, n = 0, k = 0;
  Matrix<T> a, b;
  T* c = nullptr;
  int64_t c_row = 0;
  const T* bias = nullptr;
  int64_t bias_stride = 1;
  bool adds = false;                 // to what C holds; without a bias
  const PartReady* ready = nullptr;  // C has no gaps between its rows
};

void multiply(const Product<float>& product);
void multiply(const Product<double>& product);

}  // namespace thalweg::gemm
