#pragma once

// Convolution over 1 to 3 spatial axes, channels second: [N, C, W], [N, C, H, W] or
// [N, C, D, H, W]. The number of axes is that of the input. Results are channels last in memory
// (the channel's stride is 1), whatever the input's strides are.

#include <thalweg/ops/per_axis.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

struct ConvOptions {
  PerAxis stride = 1;    // step from one window to the next
  PerAxis padding = 0;   // zeros put before and after each axis
  PerAxis dilation = 1;  // distance between neighbouring elements of a window
  int64_t groups = 1;    // cuts the channels into so many convolutions side by side
};

/// Slides `weight` [O, C / groups, kernel...] over `x` [N, C, size...] and adds `bias` [O] if it is
/// defined -> [N, O, (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down].
/// The kernel is not flipped (cross-correlation). Floating dtypes; halves are summed in f32. Throws
/// Error{invalid} for shapes that do not fit, also for a kernel larger than the padded input.
THALWEG_API Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvOptions& options = {});

struct ConvTransposeOptions {
  PerAxis stride = 1;          // of the convolution that is reversed
  PerAxis padding = 0;         // cut from both ends of the result
  PerAxis output_padding = 0;  // added to the far end of the result; below the stride
  PerAxis dilation = 1;        // distance between neighbouring elements of a window
  int64_t groups = 1;          // cuts the channels into so many convolutions side by side
};

/// The transpose of conv, its gradient with respect to the input: every element of `x`
/// [N, C, size...] adds a copy of `weight` [C, O / groups, kernel...] to the result, and `bias` [O]
/// is added if it is defined
/// -> [N, O, stride (size - 1) + dilation (kernel - 1) + 1 - 2 padding + output_padding].
THALWEG_API Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                                  const ConvTransposeOptions& options = {});

}  // namespace thalweg
