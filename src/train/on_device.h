#pragma once

// Minibatches come from the host; a net may be elsewhere.

#include <thalweg/data/batch.h>
#include <thalweg/nn/parameter.h>

namespace thalweg::train {

/// Where a net's parameters are.
inline Device device_of(const nn::ParameterList& parameters) {
  return parameters.size() ? parameters[0].parameter.device() : Device::cpu();
}

/// Calls f(batch) with data and labels on the device.
template <typename F>
decltype(auto) with_batch_on(Device device, const data::Batch& batch, F&& f) {
  if (device == Device::cpu()) return f(batch);
  data::Batch there = batch;
  if (there.data.defined()) there.data = there.data.to(device);
  if (there.label.defined()) there.label = there.label.to(device);
  return f(there);
}

/// For metrics, which look at elements.
inline Tensor on_host(const Tensor& tensor) {
  return tensor.defined() ? tensor.to(Device::cpu()) : tensor;
}

}  // namespace thalweg::train
