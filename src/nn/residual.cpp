#include <thalweg/nn/conv.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/residual.h>
#include <thalweg/nn/sequential.h>

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

}  // namespace thalweg::nn
