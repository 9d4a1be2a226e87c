#pragma once

#include <thalweg/device/device.h>
#include <thalweg/tensor/dtype.h>
#include <thalweg/tensor/shape.h>

namespace thalweg {

/// What is known of a tensor without its elements: dtype, device, shape, and where element
/// [i, j, ...] lies: offset + i * strides[0] + j * strides[1] + ..., in elements.
struct TensorMeta {
  DType dtype = DType::f32;
  Device device;
  int64_t offset = 0;
  Shape shape;
  Dims strides;

  int64_t size() const { return element_count(shape); }
  /// Row-major without gaps. Dimensions of size 1 may have any stride.
  bool is_contiguous() const {
    int64_t expected = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] == 0) return true;
      if (shape[i] != 1 && strides[i] != expected) return false;
      expected *= shape[i];
    }
    return true;
  }
  void set_row_major(const Shape& new_shape) {
    shape = new_shape;
    strides = row_major_strides(new_shape);
    offset = 0;
  }
  /// True when the elements fill their block without gaps or overlaps, in any order of dimensions,
  /// e.g. channels last.
  bool is_dense() const;
};

}  // namespace thalweg
