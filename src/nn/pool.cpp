#include <thalweg/nn/pool.h>

#include "base/fail.h"
#include "nn/describe.h"

namespace thalweg::nn {
namespace {

template <typename Options>
Options expanded(const char* type, size_t axes, Options options) {
  const Dims kernel = options.kernel.expand(type, "kernel", axes);
  Dims stride = options.stride.expand(type, "stride", axes);
  for (size_t i = 0; i < axes; ++i) {
    if (stride[i] == 0) stride[i] = kernel[i];
  }
  options.kernel = kernel;
  options.stride = stride;
  options.padding = options.padding.expand(type, "padding", axes);
  return options;
}

template <typename Options>
std::string window_text(const Options& options) {
  return fmt::format("kernel={}, stride={}{}{}", tuple_text(options.kernel.values),
                     tuple_text(options.stride.values),
                     unusual_text("padding", options.padding.values, 0),
                     options.ceil_mode ? ", ceil_mode=true" : "");
}

}  // namespace

MaxPool::MaxPool(const char* type, size_t axes, const MaxPoolOptions& options)
    : type_(type), options_(expanded(type, axes, options)) {}

std::string MaxPool::describe() { return fmt::format("{}({})", type_, window_text(options_)); }

AvgPool::AvgPool(const char* type, size_t axes, const AvgPoolOptions& options)
    : type_(type), options_(expanded(type, axes, options)) {}

std::string AvgPool::describe() {
  return fmt::format("{}({}{})", type_, window_text(options_),
                     options_.count_include_pad ? "" : ", count_include_pad=false");
}

Tensor GlobalPool::forward(const Tensor& x) {
  require_spatial(type_, x, axes_);
  return pool_(x);
}

}  // namespace thalweg::nn
