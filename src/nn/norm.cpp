#include <thalweg/graph/autograd.h>
#include <thalweg/nn/norm.h>
#include <thalweg/ops/norm.h>

#include "base/fail.h"
#include "nn/describe.h"
#include "nn/visit.h"

namespace thalweg::nn {
namespace {

const char* absent(const Parameter& parameter, const char* text) {
  return parameter.defined() ? "" : text;
}

std::string channels_text(const char* layer, const std::string& first, int64_t channels,
                          double epsilon, const NormLayer& norm) {
  return fmt::format("{}({}channels={}, epsilon={}{}{})", layer, first, size_text(channels),
                     epsilon, absent(norm.gamma, ", scale=false"),
                     absent(norm.beta, ", center=false"));
}

int64_t known_channels(const NormLayer& norm) {
  const Parameter& any = norm.gamma.defined() ? norm.gamma : norm.beta;
  return any.defined() ? any.shape()[0] : 0;
}

int64_t channels_of(const char* layer, const Tensor& x) {
  if (x.dims() < 2) {
    fail_invalid("{}: input {} has no channels; expected [N, C, ...]", layer, to_string(x.shape()));
  }
  return x.shape()[1];
}

// The last `axes` sizes of x.
Shape last_axes(const char* layer, const Tensor& x, int64_t axes) {
  if (x.dims() < axes) {
    fail_invalid("{}: input {} has less than {} axes", layer, to_string(x.shape()), axes);
  }
  const Shape& shape = x.shape();
  return Shape(std::span(shape.end() - axes, shape.end()));
}

Shape unknown_axes(const char* layer, int64_t axes) {
  if (axes < 1 || axes > static_cast<int64_t>(kMaxDims)) {
    fail_invalid("{}: axes must be from 1 to {}; {}", layer, kMaxDims, axes);
  }
  return Shape(static_cast<size_t>(axes), 0);
}

}  // namespace

NormLayer::NormLayer(const Shape& shape, bool scale, bool center) {
  if (scale) gamma = Parameter(shape, {.init = init::one()});
  if (center) beta = Parameter(shape, {.init = init::zero()});
}

void NormLayer::infer_parameters(const Shape& shape) {
  visit_parameters(*this, [&](std::string_view, Parameter& parameter) {
    if (!parameter.has_data()) parameter.infer_shape(shape);
  });
  known_ = true;
}

void NormLayer::cast(DType dtype) { Module::cast(is_half(dtype) ? DType::f32 : dtype); }

BatchNorm::BatchNorm(BatchNormLayerOptions options)
    : NormLayer({options.channels}, options.scale, options.center),
      running_mean({options.channels}, {.init = init::zero(), .differentiable = false}),
      running_var({options.channels}, {.init = init::one(), .differentiable = false}),
      options_(options) {}

void BatchNorm::members(Members& m) {
  NormLayer::members(m);
  m("running_mean", running_mean)("running_var", running_var);
}

std::string BatchNorm::describe() {
  return fmt::format("BatchNorm(channels={}, epsilon={}, momentum={}{}{}{}{})",
                     size_text(running_mean.shape()[0]), options_.epsilon, options_.momentum,
                     options_.axis == 1 ? "" : fmt::format(", axis={}", options_.axis),
                     absent(gamma, ", scale=false"), absent(beta, ", center=false"),
                     options_.use_running ? ", use_running=true" : "");
}

Tensor BatchNorm::forward(const Tensor& x) {
  infer({x.size(options_.axis)});
  if (!options_.use_running) return normalized(x);
  const ModeScope scope(Mode::prediction);
  return normalized(x);
}

Tensor BatchNorm::normalized(const Tensor& x) {
  return batch_norm(
      x, gamma.data_if_defined(), beta.data_if_defined(), running_mean.data(), running_var.data(),
      {.axis = options_.axis, .epsilon = options_.epsilon, .momentum = options_.momentum});
}

LayerNorm::LayerNorm(LayerNormLayerOptions options)
    : NormLayer(unknown_axes("LayerNorm", options.axes), options.scale, options.center),
      options_(options) {}

std::string LayerNorm::describe() {
  return fmt::format("LayerNorm(axes={}, epsilon={}{}{})", options_.axes, options_.epsilon,
                     absent(gamma, ", scale=false"), absent(beta, ", center=false"));
}

Tensor LayerNorm::forward(const Tensor& x) {
  infer(last_axes("LayerNorm", x, options_.axes));
  return layer_norm(x, gamma.data_if_defined(), beta.data_if_defined(),
                    {.axis = -options_.axes, .epsilon = options_.epsilon});
}

RMSNorm::RMSNorm(LayerNormLayerOptions options)
    : NormLayer(unknown_axes("RMSNorm", options.axes), options.scale, false), options_(options) {}

std::string RMSNorm::describe() {
  return fmt::format("RMSNorm(axes={}, epsilon={}{})", options_.axes, options_.epsilon,
                     absent(gamma, ", scale=false"));
}

Tensor RMSNorm::forward(const Tensor& x) {
  infer(last_axes("RMSNorm", x, options_.axes));
  return rms_norm(x, gamma.data_if_defined(),
                  {.axis = -options_.axes, .epsilon = options_.epsilon});
}

GroupNorm::GroupNorm(int64_t groups, GroupNormLayerOptions options)
    : NormLayer({options.channels}, options.scale, options.center),
      groups_(groups),
      options_(options) {
  if (groups < 1) fail_invalid("GroupNorm: groups must be positive; {}", groups);
}

std::string GroupNorm::describe() {
  return channels_text("GroupNorm", fmt::format("groups={}, ", groups_), known_channels(*this),
                       options_.epsilon, *this);
}

Tensor GroupNorm::forward(const Tensor& x) {
  infer({channels_of("GroupNorm", x)});
  return group_norm(x, gamma.data_if_defined(), beta.data_if_defined(),
                    {.groups = groups_, .epsilon = options_.epsilon});
}

InstanceNorm::InstanceNorm(GroupNormLayerOptions options)
    : NormLayer({options.channels}, options.scale, options.center), options_(options) {}

std::string InstanceNorm::describe() {
  return channels_text("InstanceNorm", "", known_channels(*this), options_.epsilon, *this);
}

Tensor InstanceNorm::forward(const Tensor& x) {
  const int64_t channels = channels_of("InstanceNorm", x);
  infer({channels});
  return group_norm(x, gamma.data_if_defined(), beta.data_if_defined(),
                    {.groups = channels, .epsilon = options_.epsilon});
}

}  // namespace thalweg::nn
