#include "ops/device_fusion.h"

namespace thalweg {
namespace {

DeviceFusion g_fusions[kDeviceKinds];

}  // namespace

const DeviceFusion* device_fusion(DeviceKind kind) {
  const DeviceFusion& fusion = g_fusions[static_cast<int>(kind)];
  return fusion.make ? &fusion : nullptr;
}

void set_device_fusion(DeviceKind kind, const DeviceFusion& fusion) {
  g_fusions[static_cast<int>(kind)] = fusion;
}

}  // namespace thalweg
