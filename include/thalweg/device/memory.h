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
  /// Learns of the end of watched storages, as long as it is the thread's watcher.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void ended(const Storage& storage) noexcept = 0;
  };

  using Release = void (*)(void* context);

  /// `bytes` uninitialised bytes. Throws Error{unavailable} when the device has no more memory.
  static IntrusivePtr<Storage> allocate(Device device, size_t bytes);
  /// Memory of someone else, e.g. a mapped file; `release(context)` is called when it is let go.
  static IntrusivePtr<Storage> borrow(Device device, void* data, size_t bytes, Release release,
                                      void* context);
  static void destroy(Storage* storage);
  /// Makes a borrowed block show another place.
  void move_to(void* data) noexcept { data_ = data; }

  void* data() const noexcept { return data_; }
  size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  uint32_t version() const noexcept { return version_; }
  void bump_version() noexcept { ++version_; }

  /// Never given twice in a process; the ids that one thread makes count up.
  uint64_t id() const noexcept { return id_; }
  /// An id of the calling thread, above all that it gave to storages so far.
  static uint64_t next_id() noexcept;
  /// True if the calling thread made it after it asked for next_id() and got `first`.
  bool made_since(uint64_t first) const noexcept { return id_ > first && id_ >> 40 == first >> 40; }
  /// From now on its end is told to the watcher of the thread that ends it.
  void watch() noexcept { watched_ = true; }
  /// Replaces the calling thread's watcher, null for none, and gives back the one before.
  static Watcher* set_watcher(Watcher* watcher) noexcept;

 private:
  Storage() {}  // not defaulted: T() would clear all of it first

  uint32_t version_ = 0;
  Device device_;
  uint8_t size_class_ = 0;
  bool watched_ = false;
  uint64_t id_ = next_id();
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
