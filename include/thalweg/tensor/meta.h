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
  /// Row-major without gaps. Dimensions of size 1 may have any stride, and so may all where there
  /// are no elements.
  bool is_contiguous() const { return extent().row_major; }

  struct Extent {
    int64_t count;
    bool row_major;
    bool fits;  // no size is negative, and the count fits in 63 bits
  };
  /// size() and is_contiguous() in one walk.
  Extent extent() const {
    int64_t expected = 1, signs = 0;
    bool plain = true, overflows = false;
    for (size_t i = shape.size(); i-- > 0;) {
      plain = plain && (shape[i] == 1 || strides[i] == expected);
      overflows = __builtin_mul_overflow(expected, shape[i], &expected) || overflows;
      signs |= shape[i];
    }
    return {expected, plain || expected == 0, !overflows && signs >= 0};
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
