#pragma once

#include <cstdint>
#include <string>

#include <thalweg/base/export.h>
#include <thalweg/base/inline_vector.h>

namespace thalweg {

inline constexpr size_t kMaxDims = 8;

/// Sizes, strides or axes of a tensor: at most kMaxDims 64-bit integers, never on the heap.
using Dims = InlineVector<int64_t, kMaxDims>;
using Shape = Dims;

/// The product of the sizes; 1 for a 0-d shape.
constexpr int64_t element_count(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

/// element_count for sizes that come from outside. Throws Error{invalid}, naming `operation`, for a
/// negative size or a product of bytes that does not fit in 63 bits.
THALWEG_API int64_t checked_element_count(const char* operation, const Shape& shape,
                                          size_t item_bytes);

/// Strides, in elements, of a row-major array.
constexpr Dims row_major_strides(const Shape& shape) {
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// "[64, 784]".
THALWEG_API std::string to_string(const Dims& dims);

/// The axis counted from 0. Throws Error{invalid}, naming `operation`, unless -dims <= axis < dims.
THALWEG_API int64_t normalize_axis(const char* operation, int64_t axis, size_t dims);

/// The shape two operands have after broadcasting (NumPy's rule). Throws Error{invalid} with both
/// shapes and the dimension that clashes.
THALWEG_API Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b);

}  // namespace thalweg
