#include "device/launch_graph.h"

#include "device/backend.h"

namespace thalweg {

std::unique_ptr<LaunchGraph> capture_launches(Device device, FunctionRef<void()> work) {
  if (device.kind == DeviceKind::cpu) return nullptr;
  return device_backend(device).capture(device, work);
}

void put_bytes(Device to, void* destination, const void* source, size_t bytes) {
  if (bytes) device_backend(to).put(to, destination, source, bytes);
}

}  // namespace thalweg
