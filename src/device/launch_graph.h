#pragma once

// What was launched on an accelerator once, kept to be launched again as one.

#include <memory>

#include <thalweg/base/function_ref.h>
#include <thalweg/device/device.h>

namespace thalweg {

class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  /// Puts all of it into the device's stream, with the addresses and numbers it was captured with.
  virtual void launch() = 0;
};

/// Calls `work`, whose launches on `device` become the graph and do not run. It must not wait for
/// the device or take memory there. Throws what it throws, and Error{internal} where a launch
/// cannot be part of a graph; nothing has run then. Null where the device knows no graphs.
std::unique_ptr<LaunchGraph> capture_launches(Device device, FunctionRef<void()> work);

/// Copies bytes of the host's ordinary memory to an accelerator, in the order of its stream; does
/// not wait for it. The source may be changed afterwards.
void put_bytes(Device to, void* destination, const void* source, size_t bytes);

}  // namespace thalweg
