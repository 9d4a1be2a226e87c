#pragma once

// What a kind of accelerator must give to hold tensors. The cpu needs none: host memory comes from
// the pool.

#include <cstddef>

#include <thalweg/device/memory.h>

#include "device/launch_graph.h"

namespace thalweg {

struct DeviceBackend {
  int (*count)(const char** why_none);  // devices present; why_none is set when 0
  void* (*allocate)(Device device, size_t bytes);
  void (*release)(Device device, void* data, size_t bytes) noexcept;
  void (*copy)(Device to, void* destination, Device from, const void* source, size_t bytes);
  MemoryStats (*stats)(Device device);
  void (*reset_peak)(Device device);
  void (*release_cached)(Device device);
  std::unique_ptr<LaunchGraph> (*capture)(Device device, FunctionRef<void()> work);
  void (*put)(Device to, void* destination, const void* source, size_t bytes);
};

/// The back end of an accelerator. Throws Error{unavailable} when it was not built in.
const DeviceBackend& device_backend(Device device);

#if THALWEG_WITH_CUDA
const DeviceBackend& cuda_backend();
#endif

}  // namespace thalweg
