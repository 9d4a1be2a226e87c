#include "kernels/gemm/operand.h"

namespace thalweg::gemm {

std::optional<int64_t> row_stride(const TensorMeta& meta) {
  const size_t leading = meta.shape.size() - 1;
  std::optional<int64_t> stride;  // of the innermost axis of more than one row
  int64_t expected = 0;
  for (size_t i = leading; i-- > 0;) {
    if (meta.shape[i] == 1) continue;
    if (!stride)
      stride = meta.strides[i];
    else if (meta.strides[i] != expected)
      return std::nullopt;
    expected = meta.strides[i] * meta.shape[i];
  }
  return stride ? stride : meta.shape.back();
}

int64_t BatchPositions::count() const {
  int64_t n = 1;
  for (size_t i = 0; i + 2 < out.shape.size(); ++i) n *= out.shape[i];
  return n;
}

int64_t BatchPositions::position(const TensorMeta& operand, int64_t index) const {
  int64_t position = 0;
  for (size_t from_right = 3; from_right <= out.shape.size(); ++from_right) {
    const int64_t size = out.shape[out.shape.size() - from_right];
    const int64_t i = index % size;
    index /= size;
    if (from_right > operand.shape.size()) break;
    const size_t axis = operand.shape.size() - from_right;
    if (operand.shape[axis] != 1) position += i * operand.strides[axis];
  }
  return position;
}

}  // namespace thalweg::gemm
