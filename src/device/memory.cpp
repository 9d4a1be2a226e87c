#include <atomic>
#include <cstring>
#include <new>

#include <thalweg/device/memory.h>

#include "base/fail.h"
#include "device/backend.h"
#include "device/pool.h"

namespace thalweg {
namespace {

// The header of a block of host memory shares its first cache line.
constexpr size_t kHeader = kAlignment;

// The upper bits name the thread.
std::atomic<uint64_t> g_threads{0};
constinit thread_local uint64_t t_last_id = 0;
constinit thread_local Storage::Watcher* t_watcher = nullptr;

}  // namespace

uint64_t Storage::next_id() noexcept {
  if (t_last_id == 0) [[unlikely]]
    t_last_id = (g_threads.fetch_add(1, std::memory_order_relaxed) + 1) << 40;
  return ++t_last_id;
}

Storage::Watcher* Storage::set_watcher(Watcher* watcher) noexcept {
  return std::exchange(t_watcher, watcher);
}

IntrusivePtr<Storage> Storage::allocate(Device device, size_t bytes) {
  static_assert(sizeof(Storage) <= kHeader);
  const bool on_host = device.kind == DeviceKind::cpu;
  const int size_class = pool::class_of(on_host ? bytes + kHeader : kHeader);
  void* block = pool::allocate(size_class);
  Storage* storage = new (block) Storage();
  storage->device_ = device;
  storage->size_class_ = static_cast<uint8_t>(size_class);
  storage->bytes_ = bytes;
  if (on_host) {
    storage->data_ = static_cast<char*>(block) + kHeader;
  } else {
    auto result = IntrusivePtr<Storage>::adopt(storage);
    storage->data_ = device_backend(device).allocate(device, bytes);
    return result;
  }
  return IntrusivePtr<Storage>::adopt(storage);
}

IntrusivePtr<Storage> Storage::borrow(Device device, void* data, size_t bytes, Release release,
                                      void* context) {
  const int size_class = pool::class_of(kHeader);
  Storage* storage = new (pool::allocate(size_class)) Storage();
  storage->device_ = device;
  storage->size_class_ = static_cast<uint8_t>(size_class);
  storage->data_ = data;
  storage->bytes_ = bytes;
  storage->release_ = release;
  storage->context_ = context;
  return IntrusivePtr<Storage>::adopt(storage);
}

void Storage::destroy(Storage* storage) {
  if (storage->watched_ && t_watcher) [[unlikely]]
    t_watcher->ended(*storage);
  if (storage->release_) {
    storage->release_(storage->context_);
  } else if (storage->device_.kind != DeviceKind::cpu && storage->data_) {
    device_backend(storage->device_).release(storage->device_, storage->data_, storage->bytes_);
  }
  pool::release(storage, storage->size_class_);
}

}  // namespace thalweg
