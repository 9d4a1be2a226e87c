#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <thalweg/base/export.h>

namespace thalweg {

enum class DeviceKind : uint8_t { cpu, cuda };
inline constexpr int kDeviceKinds = 2;

/// Where memory lives and work is done: "cpu" or "cuda:INDEX".
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  uint8_t index = 0;

  static constexpr Device cpu() { return {}; }
  static constexpr Device cuda(uint8_t index = 0) { return {DeviceKind::cuda, index}; }
  friend constexpr bool operator==(Device, Device) = default;
};

/// "cpu", "cuda:0".
THALWEG_API std::string to_string(Device device);

/// Reads "cpu", "cuda" or "cuda:INDEX". Throws Error{invalid} for other text and
/// Error{unavailable}, with the reason, for a device this machine does not have.
THALWEG_API Device parse_device(std::string_view text);

/// How many devices of a kind can be used now; 1 for cpu, 0 where CUDA has no driver or no GPU.
THALWEG_API int device_count(DeviceKind kind);

/// Throws Error{unavailable}, saying why, unless `device` can be used.
THALWEG_API void require_available(Device device);

}  // namespace thalweg
