#include <charconv>
#include <cstring>

#include <thalweg/device/device.h>

#include "base/fail.h"
#include "device/backend.h"
#include "device/pool.h"

namespace thalweg {

const DeviceBackend& device_backend(Device device) {
#if THALWEG_WITH_CUDA
  if (device.kind == DeviceKind::cuda) return cuda_backend();
#endif
  fail(ErrorKind::unavailable,
       "device: {} cannot be used; this library was built without CUDA; use cpu",
       to_string(device));
}

std::string to_string(Device device) {
  if (device.kind == DeviceKind::cpu) return "cpu";
  return fmt::format("cuda:{}", device.index);
}

Device parse_device(std::string_view text) {
  if (text == "cpu") return Device::cpu();
  constexpr std::string_view prefix = "cuda";
  Device device = Device::cuda();
  bool good = text.starts_with(prefix);
  if (good && text.size() > prefix.size()) {
    const char* begin = text.data() + prefix.size() + 1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, device.index);
    good = text[prefix.size()] == ':' && error == std::errc() && stop == end;
  }
  if (!good) fail_invalid("device: '{}' is no device; known are cpu, cuda, cuda:INDEX", text);
  require_available(device);
  return device;
}

int device_count(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return 1;
#if THALWEG_WITH_CUDA
  const char* why = nullptr;
  return cuda_backend().count(&why);
#else
  return 0;
#endif
}

void require_available(Device device) {
  if (device.kind == DeviceKind::cpu) {
    if (device.index != 0) fail_invalid("device: cpu:{} asked for; there is one cpu", device.index);
    return;
  }
  const char* why = nullptr;
  const int count = device_backend(device).count(&why);
  if (count == 0) {
    fail(ErrorKind::unavailable, "device: {} cannot be used; {}", to_string(device),
         why ? why : "no device is present");
  }
  if (device.index >= count) {
    fail(ErrorKind::unavailable, "device: {} asked for; this machine has {} (cuda:0 to cuda:{})",
         to_string(device), count, count - 1);
  }
}

MemoryStats memory_stats(Device device) {
  if (device.kind != DeviceKind::cpu) return device_backend(device).stats(device);
  const pool::Stats s = pool::stats();
  return {s.live, s.peak_live, s.cached, s.allocations, s.system_allocations};
}

void reset_peak_memory(Device device) {
  if (device.kind != DeviceKind::cpu) return device_backend(device).reset_peak(device);
  pool::reset_peak();
}

void release_cached_memory(Device device) {
  if (device.kind != DeviceKind::cpu) return device_backend(device).release_cached(device);
  pool::release_cached();
}

void copy_bytes(Device to, void* destination, Device from, const void* source, size_t bytes) {
  if (bytes == 0) return;
  if (to.kind == DeviceKind::cpu && from.kind == DeviceKind::cpu) {
    std::memcpy(destination, source, bytes);
  } else {
    device_backend(to.kind == DeviceKind::cpu ? from : to)
        .copy(to, destination, from, source, bytes);
  }
}

}  // namespace thalweg
