#include <thalweg/nn/conv.h>

#include "base/fail.h"
#include "nn/describe.h"

namespace thalweg::nn {
namespace {

Shape weight_shape(int64_t first, int64_t second, const Dims& kernel) {
  Shape shape = {first, second};
  for (int64_t size : kernel) shape.push_back(size);
  return shape;
}

Dims kernel_of(const Shape& weight) { return Dims(std::span(weight.begin() + 2, weight.end())); }

void check_channels(const char* type, const char* what, int64_t channels, int64_t groups) {
  if (groups < 1) fail_invalid("{}: groups must be positive; {}", type, groups);
  if (channels < 0 || channels % groups != 0) {
    fail_invalid("{}: {} {} cannot be cut into {} groups", type, what, channels, groups);
  }
}

Dims checked_kernel(const char* type, const PerAxis& kernel, size_t axes) {
  const Dims sizes = kernel.expand(type, "kernel", axes);
  for (int64_t size : sizes) {
    if (size < 1) fail_invalid("{}: kernel sizes must be positive; {}", type, to_string(sizes));
  }
  return sizes;
}

}  // namespace

Conv::Conv(const char* type, size_t axes, int64_t channels, ConvLayerOptions options)
    : type_(type),
      options_{options.stride.expand(type, "stride", axes),
               options.padding.expand(type, "padding", axes),
               options.dilation.expand(type, "dilation", axes), options.groups},
      activation_(options.activation) {
  if (channels < 1) fail_invalid("{}: channels must be positive; {}", type, channels);
  check_channels(type, "channels", channels, options.groups);
  check_channels(type, "in_channels", options.in_channels, options.groups);
  const Dims kernel = checked_kernel(type, options.kernel, axes);
  weight = Parameter(weight_shape(channels, options.in_channels / options.groups, kernel),
                     {.init = std::move(options.weight_init), .dtype = options.dtype});
  if (options.bias) {
    bias = Parameter({channels}, {.init = std::move(options.bias_init), .dtype = options.dtype});
  }
}

std::string Conv::describe() {
  const Shape& shape = weight.shape();
  return fmt::format(
      "{}({} -> {}, kernel={}, stride={}{}{}{}{}{})", type_, size_text(shape[1] * options_.groups),
      shape[0], tuple_text(kernel_of(shape)), tuple_text(options_.stride.values),
      unusual_text("padding", options_.padding.values, 0),
      unusual_text("dilation", options_.dilation.values, 1),
      options_.groups == 1 ? "" : fmt::format(", groups={}", options_.groups),
      bias.defined() ? "" : ", bias=false", activation_ ? ", " + activation_text(activation_) : "");
}

void Conv::infer(const Tensor& x) {
  const Dims kernel = kernel_of(weight.shape());
  require_spatial(type_, x, kernel.size());
  check_channels(type_, "the input's channels", x.size(1), options_.groups);
  weight.infer_shape(weight_shape(weight.shape()[0], x.size(1) / options_.groups, kernel));
}

Tensor Conv::forward(const Tensor& x) {
  if (!weight.has_data()) [[unlikely]]
    infer(x);
  Tensor y = conv(x, weight.data(), bias.data_if_defined(), options_);
  return activation_ ? activation_(y) : y;
}

ConvTranspose::ConvTranspose(const char* type, size_t axes, int64_t channels,
                             ConvTransposeLayerOptions options)
    : type_(type),
      options_{options.stride.expand(type, "stride", axes),
               options.padding.expand(type, "padding", axes),
               options.output_padding.expand(type, "output_padding", axes),
               options.dilation.expand(type, "dilation", axes), options.groups},
      activation_(options.activation) {
  if (channels < 1) fail_invalid("{}: channels must be positive; {}", type, channels);
  check_channels(type, "channels", channels, options.groups);
  check_channels(type, "in_channels", options.in_channels, options.groups);
  const Dims kernel = checked_kernel(type, options.kernel, axes);
  weight = Parameter(weight_shape(options.in_channels, channels / options.groups, kernel),
                     {.init = std::move(options.weight_init), .dtype = options.dtype});
  if (options.bias) {
    bias = Parameter({channels}, {.init = std::move(options.bias_init), .dtype = options.dtype});
  }
}

std::string ConvTranspose::describe() {
  const Shape& shape = weight.shape();
  return fmt::format(
      "{}({} -> {}, kernel={}, stride={}{}{}{}{}{}{})", type_, size_text(shape[0]),
      shape[1] * options_.groups, tuple_text(kernel_of(shape)), tuple_text(options_.stride.values),
      unusual_text("padding", options_.padding.values, 0),
      unusual_text("output_padding", options_.output_padding.values, 0),
      unusual_text("dilation", options_.dilation.values, 1),
      options_.groups == 1 ? "" : fmt::format(", groups={}", options_.groups),
      bias.defined() ? "" : ", bias=false", activation_ ? ", " + activation_text(activation_) : "");
}

void ConvTranspose::infer(const Tensor& x) {
  const Dims kernel = kernel_of(weight.shape());
  require_spatial(type_, x, kernel.size());
  check_channels(type_, "the input's channels", x.size(1), options_.groups);
  weight.infer_shape(weight_shape(x.size(1), weight.shape()[1], kernel));
}

Tensor ConvTranspose::forward(const Tensor& x) {
  if (!weight.has_data()) [[unlikely]]
    infer(x);
  Tensor y = conv_transpose(x, weight.data(), bias.data_if_defined(), options_);
  return activation_ ? activation_(y) : y;
}

}  // namespace thalweg::nn
