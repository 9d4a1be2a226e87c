#pragma once

#include <algorithm>

#include <thalweg/tensor/meta.h>

#include "kernels/cuda/device/walk.h"

namespace thalweg::cuda {

/// Makes a walk of axes that are given from the innermost out; neighbours that every operand walks
/// without a jump are joined.
template <int kOperands>
class WalkMaker {
 public:
  WalkMaker() { walk_.count = 1; }

  /// `strides` are in bytes.
  void add(int64_t size, const int64_t (&strides)[kOperands]) {
    walk_.count *= size;
    if (size == 1) return;
    const int last = walk_.dims - 1;
    bool joins = last >= 0;
    for (int k = 0; k < kOperands && joins; ++k)
      joins = strides[k] == walk_.strides[last][k] * walk_.shape[last];
    if (joins) {
      walk_.shape[last] *= size;
      return;
    }
    walk_.shape[walk_.dims] = size;
    std::copy_n(strides, kOperands, walk_.strides[walk_.dims]);
    ++walk_.dims;
  }

  Walk<kOperands> finish() {
    if (walk_.dims == 0) {
      walk_.dims = 1;
      walk_.shape[0] = 1;
    }
    return walk_;
  }

 private:
  Walk<kOperands> walk_ = {};
};

/// The stride of an axis in bytes, 0 where the tensor has one element along it.
inline int64_t byte_stride(const TensorMeta& m, size_t axis) {
  return m.shape[axis] == 1 ? 0 : m.strides[axis] * static_cast<int64_t>(item_size(m.dtype));
}

}  // namespace thalweg::cuda
