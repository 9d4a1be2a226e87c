#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/residual.h>

#include "base/fail.h"

namespace thalweg::nn {
namespace {

void add_conv(Sequential& net, int64_t channels, int64_t kernel, int64_t stride) {
  net.add(
      Conv2D(channels, {.kernel = kernel, .stride = stride, .padding = kernel / 2, .bias = false}));
  net.add(BatchNorm());
}

Residual with_shortcut(Sequential body, int64_t channels, const ResidualBlockOptions& options) {
  if (!options.projection && options.stride == 1) return Residual(std::move(body), relu);
  Sequential projection;
  add_conv(projection, channels, 1, options.stride);
  return Residual(std::move(body), std::move(projection), relu);
}

}  // namespace

Residual basic_block(int64_t channels, const ResidualBlockOptions& options) {
  Sequential body;
  add_conv(body, channels, 3, options.stride);
  body.add(Activation(relu));
  add_conv(body, channels, 3, 1);
  return with_shortcut(std::move(body), channels, options);
}

Residual bottleneck_block(int64_t channels, const ResidualBlockOptions& options) {
  Sequential body;
  add_conv(body, channels, 1, 1);
  body.add(Activation(relu));
  add_conv(body, channels, 3, options.stride);
  body.add(Activation(relu));
  add_conv(body, 4 * channels, 1, 1);
  return with_shortcut(std::move(body), 4 * channels, options);
}

Sequential resnet_cifar(int64_t depth, int64_t classes) {
  if (depth < 8 || depth % 6 != 2) {
    fail_invalid("resnet_cifar: depth {}; it is 6 n + 2 for n blocks of each size: 8, 14, 20, ...",
                 depth);
  }
  Sequential net;
  add_conv(net, 16, 3, 1);
  net.add(Activation(relu));
  for (const int64_t channels : {16, 32, 64}) {
    for (int64_t block = 0; block < (depth - 2) / 6; ++block)
      net.add(basic_block(channels, {.stride = block == 0 && channels > 16 ? 2 : 1}));
  }
  net.add(GlobalAvgPool2D());
  net.add(Flatten());
  net.add(Dense(classes));
  return net;
}

}  // namespace thalweg::nn
