#pragma once

// The loops of softmax and its kin over `rows` rows of n neighbours, for each dtype of elements.

#include "kernels/simd/fold.h"

namespace thalweg::simd {

struct SoftmaxFns {
  void (*softmax)(const void* x, void* y, int64_t rows, int64_t n);
  void (*log_softmax)(const void* x, void* y, int64_t rows, int64_t n);
  void (*softmax_vjp)(const void* grad, const void* y, void* dx, int64_t rows, int64_t n);
  void (*log_softmax_vjp)(const void* grad, const void* y, void* dx, int64_t rows, int64_t n);
  /// log(sum(exp(x))) of each row.
  void (*logsumexp)(const void* x, int64_t rows, int64_t n, double* results);
  /// dx = factor * softmax(x) + offset of one row, less `at_label` at the label.
  void (*loss_gradient)(const void* x, void* dx, int64_t n, int64_t label, double factor,
                        double offset, double at_label);
};

struct SoftmaxTable {
  SoftmaxFns by_dtype[kFloatDTypes] = {};
};
void fill_softmax(SoftmaxTable& table);

}  // namespace thalweg::simd
