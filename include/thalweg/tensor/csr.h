#pragma once

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// A matrix of which few elements are not 0, in compressed rows. What lies at one place more than
/// once is added up. Rows may have several axes: of padded sequences [B, T, width], rows are B * T.
struct CsrTensor {
  Tensor values;      // [stored]
  Tensor columns;     // [stored], integers in [0, width); i32 in minibatches
  Tensor row_starts;  // [rows + 1]: row i has the stored values from row_starts[i] on; i64 there
  Shape shape = {};   // [rows, width]

  bool defined() const noexcept { return values.defined(); }

  /// Throws Error{invalid}, beginning with `operation`, unless the parts are on the cpu and fit
  /// together: shapes and dtypes; row_starts that begin with 0, do not fall and end with `stored`;
  /// columns below the width.
  THALWEG_API void check(const char* operation) const;
  /// The same with its zeros. Throws as check().
  THALWEG_API Tensor to_dense() const;
};

}  // namespace thalweg
