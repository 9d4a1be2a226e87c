#pragma once

// Residual nets and their blocks (He et al. 2016, https://arxiv.org/abs/1512.03385).

#include <thalweg/nn/basic.h>
#include <thalweg/nn/sequential.h>

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

/// The paper's net for small images (its section 4.2): a 3 x 3 convolution, (depth - 2) / 6 basic
/// blocks of each 16, 32 and 64 channels, the mean over the image, Dense: x [N, C, H, W] ->
/// [N, classes]. ResNet-20 has depth 20. Throws Error{invalid} unless depth is 8, 14, 20, ...
THALWEG_API Sequential resnet_cifar(int64_t depth, int64_t classes = 10);

}  // namespace thalweg::nn
