#pragma once

// Rows of any stride for kernels that only take unit strides and repeated elements.

#include "ops/pointwise_loop.h"

namespace thalweg::simd {

/// Bytes of an element of each operand of a row.
struct RowItems {
  size_t inputs;
  uint8_t in[kMaxPointwiseInputs];
  uint8_t out;
};

/// True where every operand has unit stride or, an input, repeats one element.
inline bool is_plain(const PointwiseRow& row, const RowItems& items) {
  bool plain = row.out_stride == items.out || row.n == 1;
  for (size_t i = 0; i < items.inputs; ++i) {
    plain = plain && (row.in_stride[i] == items.in[i] || row.in_stride[i] == 0 || row.n == 1);
  }
  return plain;
}

/// Runs `plain`, which needs is_plain rows, over blocks that are copied together.
void strided_row(const PointwiseRow& row, const RowItems& items, PointwiseRowFn plain);

/// Copies n elements of `bytes` each between strides in bytes.
void copy_strided(char* to, int64_t to_stride, const char* from, int64_t from_stride, size_t bytes,
                  int64_t n);
/// Writes one element of `bytes` to n places.
void fill_strided(char* to, int64_t to_stride, const void* element, size_t bytes, int64_t n);

}  // namespace thalweg::simd
