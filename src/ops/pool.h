#pragma once

// What the kernels of the pooling family read: attributes, and the problem they describe.

#include <thalweg/ops/op.h>

#include "ops/spatial.h"

namespace thalweg {

/// Of row max_pool: input x, outputs values and indices (i64).
struct MaxPoolAttrs {
  Dims kernel;  // one number per spatial axis, here and below
  Dims stride;
  Dims padding;
  bool ceil_mode = false;
  static auto fields() {
    return std::tuple{
        attr("kernel", &MaxPoolAttrs::kernel, "size of a window"),
        attr("stride", &MaxPoolAttrs::stride, "step from one window to the next"),
        attr("padding", &MaxPoolAttrs::padding, "at both ends of each axis"),
        attr("ceil_mode", &MaxPoolAttrs::ceil_mode, "also windows that reach over the end")};
  }
};

/// Of rows avg_pool and avg_pool_gradient.
struct AvgPoolAttrs {
  Dims kernel;
  Dims stride;
  Dims padding;
  Dims size;  // of x, for the gradient only
  bool ceil_mode = false;
  bool count_include_pad = true;
  static auto fields() {
    return std::tuple{
        attr("kernel", &AvgPoolAttrs::kernel, "size of a window"),
        attr("stride", &AvgPoolAttrs::stride, "step from one window to the next"),
        attr("padding", &AvgPoolAttrs::padding, "at both ends of each axis"),
        attr("size", &AvgPoolAttrs::size, "spatial sizes of x, for the gradient"),
        attr("ceil_mode", &AvgPoolAttrs::ceil_mode, "also windows that reach over the end"),
        attr("count_include_pad", &AvgPoolAttrs::count_include_pad,
             "divide by the window's size with padding")};
  }
};

/// Windows of x that each give one element of y, brought to 3 spatial axes (leading ones of
/// size 1). The window of element o starts at o * stride - padding.
struct PoolProblem {
  int64_t batch, channels;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3];
  SpatialStrides x, y;
};

/// The problem of a call of max_pool, avg_pool or avg_pool_gradient.
PoolProblem pool_problem(const KernelContext& ctx);

void reference_max_pool(const KernelContext& ctx);
void reference_avg_pool(const KernelContext& ctx);
void reference_avg_pool_gradient(const KernelContext& ctx);

}  // namespace thalweg
