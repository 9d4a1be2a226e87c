#pragma once

// The text of the sources that kernels are compiled from; see embed.cmake.

#include <span>

namespace thalweg::cuda {

struct DeviceSource {
  const char* name;  // as #include has it
  const char* text;
};

std::span<const DeviceSource> device_sources();

}  // namespace thalweg::cuda
