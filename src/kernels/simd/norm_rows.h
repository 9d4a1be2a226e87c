#pragma once

// The loops of the normalisations, for each dtype of elements. C is the type of the arithmetic: f64
// for f64, f32 for others. Rows are `rows` times n neighbours, without gaps.

#include "kernels/simd/fold.h"

namespace thalweg::simd {

/// Arrays of C: n elements that run along the rows, or single ones that hold for all of a row.
struct NormParameters {
  const void* mean;
  const void* rate;   // 1 / deviation, of gradients
  const void* scale;  // rate times weight
  const void* bias;
  const void* mean_gradient;  // the means over what a statistic is made of, of the gradient
  const void* mean_product;   // and of the gradient times the normalised x
  bool repeated;
};

/// Of a layer norm: weight and bias are n elements of C, or null.
struct LayerParameters {
  const void* weight;
  const void* bias;
  double epsilon;
  bool centered;  // RMS norm is not
};

struct NormFns {
  /// Mean, and sum of squared distances from it, of each of n columns.
  void (*column_moments)(const void* x, int64_t rows, int64_t n, double* mean, double* squares);
  /// The same of one run.
  void (*run_moments)(const void* x, int64_t n, double* mean, double* squares);
  /// y = (x - mean) * scale + bias.
  void (*apply)(const void* x, void* y, int64_t rows, int64_t n, const NormParameters& p);
  /// Adds the gradient, and its product with the normalised x, over the rows; into n sums each, or
  /// one where the parameters are repeated.
  void (*gradient_sums)(const void* grad, const void* x, int64_t rows, int64_t n,
                        const NormParameters& p, double* sums, double* products);
  /// dx = scale * (grad - mean_gradient - (x - mean) * rate * mean_product).
  void (*gradient)(const void* grad, const void* x, void* dx, int64_t rows, int64_t n,
                   const NormParameters& p);

  void (*layer)(const void* x, void* y, int64_t rows, int64_t n, const LayerParameters& p);
  /// Adds the gradients of weight and bias into n elements each.
  void (*layer_gradient)(const void* grad, const void* x, void* dx, int64_t rows, int64_t n,
                         const LayerParameters& p, double* dweight, double* dbias);
};

struct NormTable {
  NormFns by_dtype[kFloatDTypes] = {};
};
void fill_norms(NormTable& table);

/// Moments of `count` elements and of `more_count` others become those of all (Chan et al. 1979).
inline void join_moments(double& mean, double& squares, double count, double more_mean,
                         double more_squares, double more_count) {
  const double total = count + more_count;
  const double distance = more_mean - mean;
  mean += distance * more_count / total;
  squares += more_squares + distance * distance * count * more_count / total;
}

}  // namespace thalweg::simd
