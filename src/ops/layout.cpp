#include "ops/layout.h"

#include <utility>

namespace thalweg {
namespace {

Dims nested_strides(const Shape& shape, const Dims& outermost_first) {
  Dims strides(shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const int64_t axis = outermost_first[i];
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

}  // namespace

Dims channels_last_strides(const Shape& shape) {
  Dims order{0};
  for (size_t i = 2; i < shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
  order.push_back(1);
  return nested_strides(shape, order);
}

Dims strides_like(const TensorMeta& model, const Shape& shape) {
  if (model.is_contiguous() || !model.is_dense()) return row_major_strides(shape);
  return nested_strides(shape, axes_by_stride(model.strides));
}

Dims axes_by_stride(const Dims& strides) {
  Dims order(strides.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && strides[order[j]] > strides[order[j - 1]]; --j) {
      std::swap(order[j], order[j - 1]);
    }
  }
  return order;
}

}  // namespace thalweg
