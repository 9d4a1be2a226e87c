#pragma once

// The loops of softmax and its kin over `rows` rows of n neighbours, for each dtype of elements.

#include "kernels/simd/fold.h"

namespace thalweg::simd {

/// What a softmax is made of: the largest logit, and the sum of exp(x - largest). A row of -inf
/// alone has the sum 0.
struct SoftmaxScale {
  double largest;
  double sum;
};

struct SoftmaxFns {
  void (*softmax)(const void* x, void* y, int64_t rows, int64_t n);
  void (*log_softmax)(const void* x, void* y, int64_t rows, int64_t n);
  void (*softmax_vjp)(const void* grad, const void* y, void* dx, int64_t rows, int64_t n);
  void (*log_softmax_vjp)(const void* grad, const void* y, void* dx, int64_t rows, int64_t n);
  /// The scale of one row.
  SoftmaxScale (*scale)(const void* x, int64_t n);
  /// y = factor * softmax(x) + offset, of one row. Gives the scale.
  SoftmaxScale (*affine)(const void* x, void* y, int64_t n, double factor, double offset);
};

struct SoftmaxTable {
  SoftmaxFns by_dtype[kFloatDTypes] = {};
};
void fill_softmax(SoftmaxTable& table);

}  // namespace thalweg::simd
