#include "ops/spatial.h"

#include <thalweg/ops/per_axis.h>

#include "base/fail.h"

namespace thalweg {

Dims PerAxis::expand(const char* operation, const char* setting, size_t axes) const {
  if (values.size() == axes) return values;
  if (values.size() != 1) {
    fail_invalid("{}: {} {} has {} numbers; give one, or one for each of the {} spatial axes",
                 operation, setting, to_string(values), values.size(), axes);
  }
  return Dims(axes, values[0]);
}

size_t spatial_axes(const char* operation, const Shape& shape) {
  if (shape.size() < 3 || shape.size() > 5) {
    fail_invalid("{}: input of shape {}; it takes [N, C, W], [N, C, H, W] or [N, C, D, H, W]",
                 operation, to_string(shape));
  }
  return shape.size() - 2;
}

size_t spatial_axes(const char* operation, const Tensor& x) {
  if (!x.defined()) fail_invalid("{}: the input is an undefined tensor", operation);
  return spatial_axes(operation, x.shape());
}

int64_t limited_product(int64_t a, int64_t b) {
  int64_t product = 0;
  const bool overflows = __builtin_mul_overflow(a, b, &product);
  return overflows || product > kLargestProduct ? kLargestProduct : product;
}

void check_setting(const InferContext& ctx, const char* setting, const Dims& values, size_t axes,
                   int64_t least) {
  if (values.size() != axes) {
    fail_invalid("{}: {} {} for {} spatial axes; give one number each", ctx.op().name, setting,
                 to_string(values), axes);
  }
  for (int64_t v : values) {
    if (v < least) {
      fail_invalid("{}: {} {} is below {}", ctx.op().name, setting, to_string(values), least);
    }
    if (v > kLargestSetting) {
      fail_invalid("{}: {} {} is above {}", ctx.op().name, setting, to_string(values),
                   kLargestSetting);
    }
  }
}

SpatialStrides spatial_strides(const TensorMeta& meta) {
  SpatialStrides s{meta.strides[0], meta.strides[1], {0, 0, 0}};
  const size_t axes = meta.shape.size() - 2;
  for (size_t i = 0; i < axes; ++i) s.spatial[3 - axes + i] = meta.strides[2 + i];
  return s;
}

SpatialStrides row_major_strides(int64_t channels, const int64_t (&sizes)[3]) {
  const int64_t area = sizes[1] * sizes[2];
  return {channels * sizes[0] * area, sizes[0] * area, {area, sizes[2], 1}};
}

}  // namespace thalweg
