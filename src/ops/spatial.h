#pragma once

// What ops over [N, C, spatial...] share: convolution and pooling.

#include <thalweg/ops/op.h>

namespace thalweg {

/// The number of spatial axes, 1 to 3. Throws Error{invalid}, naming `operation`, for a tensor of
/// other dimensions.
size_t spatial_axes(const char* operation, const Shape& shape);
/// As above; also throws for an undefined tensor.
size_t spatial_axes(const char* operation, const Tensor& x);
/// Strides, padding and the like are at most this, so that sums of sizes do not overflow.
inline constexpr int64_t kLargestSetting = int64_t{1} << 40;
inline constexpr int64_t kLargestProduct = int64_t{1} << 60;

/// a * b, or kLargestProduct, which is more than any tensor's size, where it would be more.
int64_t limited_product(int64_t a, int64_t b);

/// Throws Error{invalid} unless there is a value for each axis and all are from `least` to
/// kLargestSetting.
void check_setting(const InferContext& ctx, const char* setting, const Dims& values, size_t axes,
                   int64_t least);

/// Where the elements of an array brought to [N, channel, d, h, w] lie.
struct SpatialStrides {
  int64_t outer, channel, spatial[3];
};
/// Absent leading axes have stride 0.
SpatialStrides spatial_strides(const TensorMeta& meta);
SpatialStrides row_major_strides(int64_t channels, const int64_t (&sizes)[3]);

}  // namespace thalweg
