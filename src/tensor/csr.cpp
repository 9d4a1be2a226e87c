#include <thalweg/tensor/csr.h>

#include "base/fail.h"

namespace thalweg {
namespace {

template <typename F>
void visit_index(const char* operation, const char* part, const Tensor& indices, F&& f) {
  bool is_index = false;
  visit_dtype(indices.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      is_index = true;
      f(indices.data<T>());
    }
  });
  if (!is_index)
    fail_invalid("{}: the {} are {}; expected integers", operation, part, name(indices.dtype()));
}

void check_shapes(const char* operation, const CsrTensor& csr) {
  if (!csr.values.defined() || !csr.columns.defined() || !csr.row_starts.defined())
    fail_invalid("{}: a part of the sparse matrix is an undefined tensor", operation);
  int64_t rows = csr.shape.empty() ? -1 : 1;
  for (size_t i = 0; i + 1 < csr.shape.size(); ++i) rows *= csr.shape[i];
  const bool fits = rows >= 0 && csr.values.dims() == 1 &&
                    csr.columns.shape() == csr.values.shape() &&
                    csr.row_starts.shape() == Shape{rows + 1};
  if (!fits)
    fail_invalid(
        "{}: values {}, columns {} and row_starts {} do not fit a sparse matrix of shape {}; "
        "expected [stored], [stored] and [rows + 1]",
        operation, to_string(csr.values.shape()), to_string(csr.columns.shape()),
        to_string(csr.row_starts.shape()), to_string(csr.shape));
}

}  // namespace

void CsrTensor::check(const char* operation) const {
  check_shapes(operation, *this);
  const int64_t stored = values.size(), rows = row_starts.size() - 1;
  visit_index(operation, "row_starts", row_starts, [&](const auto* start) {
    if (start[0] != 0 || static_cast<int64_t>(start[rows]) != stored)
      fail_invalid("{}: row_starts go from {} to {}; expected 0 to {}, the stored values",
                   operation, start[0], start[rows], stored);
    for (int64_t row = 0; row < rows; ++row) {
      if (start[row] > start[row + 1])
        fail_invalid("{}: row_starts falls from {} to {} at row {}", operation, start[row],
                     start[row + 1], row);
    }
  });
  visit_index(operation, "columns", columns, [&](const auto* column) {
    for (int64_t i = 0; i < stored; ++i) {
      if (column[i] < 0 || static_cast<int64_t>(column[i]) >= shape.back())
        fail_invalid("{}: column {} of stored value {} is out of range; the width is {}", operation,
                     column[i], i, shape.back());
    }
  });
}

Tensor CsrTensor::to_dense() const {
  check("to_dense");
  Tensor dense = Tensor::zeros(shape, {.dtype = values.dtype()});
  const int64_t width = shape.back();
  visit_index("to_dense", "row_starts", row_starts, [&](const auto* start) {
    visit_index("to_dense", "columns", columns, [&](const auto* column) {
      visit_dtype(values.dtype(), [&](auto zero) {
        using T = decltype(zero);
        const T* from = values.data<T>();
        T* to = dense.mutable_data<T>();
        for (int64_t row = 0; row + 1 < row_starts.size(); ++row, to += width) {
          for (auto i = start[row]; i < start[row + 1]; ++i)
            to[column[i]] = static_cast<T>(to[column[i]] + from[i]);
        }
      });
    });
  });
  return dense;
}

}  // namespace thalweg
