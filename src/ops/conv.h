#pragma once

// What the kernels of the convolution family read: attributes, and the problem they describe.

#include <thalweg/ops/op.h>

#include "ops/spatial.h"

namespace thalweg {

/// Of row conv: inputs x [N, C, in...], weight [O, C / groups, kernel...], bias? [O].
struct ConvAttrs {
  Dims stride;  // one number per spatial axis, here and below
  Dims padding;
  Dims dilation;
  int64_t groups = 1;
  static auto fields() {
    return std::tuple{
        attr("stride", &ConvAttrs::stride, "step from one window to the next"),
        attr("padding", &ConvAttrs::padding, "zeros before and after each axis"),
        attr("dilation", &ConvAttrs::dilation, "distance between elements of a window"),
        attr("groups", &ConvAttrs::groups, "convolutions side by side")};
  }
};

/// Of row conv_transpose: inputs x [N, O, out...], weight [O, C / groups, kernel...], bias? [C], in
/// the letters of conv.
struct ConvTransposeAttrs {
  Dims stride;
  Dims padding;
  Dims output_padding;
  Dims dilation;
  int64_t groups = 1;
  static auto fields() {
    return std::tuple{
        attr("stride", &ConvTransposeAttrs::stride, "step of the convolution that is reversed"),
        attr("padding", &ConvTransposeAttrs::padding, "cut from both ends of the result"),
        attr("output_padding", &ConvTransposeAttrs::output_padding,
             "added to the far end of the result"),
        attr("dilation", &ConvTransposeAttrs::dilation, "distance between elements of a window"),
        attr("groups", &ConvTransposeAttrs::groups, "convolutions side by side")};
  }
};

/// Of row conv_weight_gradient: inputs x [N, C, in...] and g [N, O, out...].
struct ConvWeightAttrs {
  Dims stride;
  Dims padding;
  Dims dilation;
  Dims kernel;
  int64_t groups = 1;
  static auto fields() {
    return std::tuple{
        attr("stride", &ConvWeightAttrs::stride, "step from one window to the next"),
        attr("padding", &ConvWeightAttrs::padding, "zeros before and after each axis"),
        attr("dilation", &ConvWeightAttrs::dilation, "distance between elements of a window"),
        attr("kernel", &ConvWeightAttrs::kernel, "size of the weight"),
        attr("groups", &ConvWeightAttrs::groups, "convolutions side by side")};
  }
};

/// y [N, O, out] = x [N, C, in] convolved with w [O, C / groups, kernel], brought to 3 spatial axes
/// (leading ones of size 1); the result of a row is one of the three. The element y at o is fed by
/// x at o * stride - padding + k * dilation.
struct ConvProblem {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // of one group
  int64_t in[3], out[3], kernel[3];
  int64_t stride[3], padding[3], dilation[3];
  SpatialStrides x, w, y;
};

/// The problem of a call of conv, conv_transpose or conv_weight_gradient.
ConvProblem conv_problem(const KernelContext& ctx);

}  // namespace thalweg
