#pragma once

// Folding elements into one value per row or per column; the loops that reductions are made of.

#include <cstdint>

#include <thalweg/tensor/dtype.h>

namespace thalweg::simd {

/// How one kind of fold runs over elements of one dtype. Results are f64, into which they fold what
/// was there before: the first call finds `init`. f32 and halves are summed by blocks of at most 32
/// additions a lane before they reach f64, so that the error does not grow with the count.
struct FoldFns {
  double init;
  double (*join)(double a, double b);
  /// `rows` runs of n neighbours each, `row_bytes` apart; a result for each run.
  void (*runs)(const char* p, int64_t row_bytes, int64_t rows, int64_t n, double* results);
  /// Element j of `rows` rows of `cols` neighbours each folds into results[j]. May be null.
  void (*columns)(const char* p, int64_t row_bytes, int64_t rows, int64_t cols, double* results);
};

/// The position of the winning element of each run; the first of equals, and NaN wins.
using PositionsFn = void (*)(const char* p, int64_t row_bytes, int64_t rows, int64_t n,
                             int64_t* positions);

inline constexpr int kFloatDTypes = 4;  // f32, f64, f16, bf16: the first of DType

struct FoldTable {
  FoldFns sum[kFloatDTypes] = {};
  FoldFns squares[kFloatDTypes] = {};  // the sum of squares
  FoldFns max[kFloatDTypes] = {};
  FoldFns min[kFloatDTypes] = {};
  PositionsFn argmax[kFloatDTypes] = {};
  PositionsFn argmin[kFloatDTypes] = {};
};

void fill_folds(FoldTable& table);
/// The table of the chosen target.
const FoldTable& folds();

}  // namespace thalweg::simd
