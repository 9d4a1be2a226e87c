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

}  // namespace

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
  if (storage->release_) {
    storage->release_(storage->context_);
  } else if (storage->device_.kind != DeviceKind::cpu && storage->data_) {
    device_backend(storage->device_).release(storage->device_, storage->data_, storage->bytes_);
  }
  pool::release(storage, storage->size_class_);
}

}  // namespace thalweg
