#pragma once

// The blocks of residual nets (He et al. 2016, https://arxiv.org/abs/1512.03385).

#include <thalweg/nn/basic.h>

namespace thalweg::nn {

struct ResidualBlockOptions {
  int64_t stride = 1;  ///< of the first 3 x 3 convolution
  /// A 1 x 1 convolution and batch norm on the shortcut, as a stride above 1 needs, and as another
  /// number of channels than the input's does.
  bool projection = false;
};

/// Two 3 x 3 convolutions, each with batch norm: x [N, C, H, W] -> [N, channels, H', W'], H' = H /
/// stride rounded up.
THALWEG_API Residual basic_block(int64_t channels, const ResidualBlockOptions& options = {});

/// 1 x 1, 3 x 3 and 1 x 1 convolutions, each with batch norm; the last has 4 * channels: x
/// [N, C, H, W] -> [N, 4 * channels, H', W'].
THALWEG_API Residual bottleneck_block(int64_t channels, const ResidualBlockOptions& options = {});

}  // namespace thalweg::nn
