#pragma once

#include <cstddef>
#include <cstdint>

#include <thalweg/base/intrusive_ptr.h>
#include <thalweg/device/device.h>

namespace thalweg {

/// Every allocation starts at a multiple of this many bytes: a cache line, and a 512-bit vector.
inline constexpr size_t kAlignment = 64;

/// A counted block of bytes on one device. Freed blocks return to a cache per device; see
/// memory_stats. The version grows with each change in place, so that a value saved for backward
/// can be known to be still what it was.
class Storage : public RefCounted {
 public:
  using Release = void (*)(void* context);

  /// `bytes` uninitialised bytes. Throws Error{unavailable} when the device has no more memory.
  static IntrusivePtr<Storage> allocate(Device device, size_t bytes);
  /// Memory of someone else, e.g. a mapped file; `release(context)` is called when it is let go.
  static IntrusivePtr<Storage> borrow(Device device, void* data, size_t bytes, Release release,
                                      void* context);
  static void destroy(Storage* storage);

  void* data() const noexcept { return data_; }
  size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  uint32_t version() const noexcept { return version_; }
  void bump_version() noexcept { ++version_; }

 private:
  Storage() = default;

  uint32_t version_ = 0;
  Device device_;
  uint8_t size_class_ = 0;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Release release_ = nullptr;
  void* context_ = nullptr;
};

/// Bytes of a device's allocator. `live` are in use, `cached` are free and kept for reuse.
struct MemoryStats {
  size_t live = 0;
  size_t peak_live = 0;  // largest `live` since the last reset
  size_t cached = 0;
  uint64_t allocations = 0;         // calls of Storage::allocate
  uint64_t system_allocations = 0;  // those that had to ask the system
};

THALWEG_API MemoryStats memory_stats(Device device = {});
THALWEG_API void reset_peak_memory(Device device = {});
/// Gives the cached blocks of the calling thread and of the shared cache back to the system.
THALWEG_API void release_cached_memory(Device device = {});

/// Copies bytes between any two devices; returns when the copy is done.
void copy_bytes(Device to, void* destination, Device from, const void* source, size_t bytes);

}  // namespace thalweg
