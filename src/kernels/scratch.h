#pragma once

#include <cstdint>

#include <thalweg/device/memory.h>

namespace thalweg {

/// Memory of a kernel while it runs: uninitialised elements from the cpu's pool.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t elements)
      : storage_(Storage::allocate(Device::cpu(), static_cast<size_t>(elements) * sizeof(T))) {}
  T* data() const { return static_cast<T*>(storage_->data()); }

 private:
  IntrusivePtr<Storage> storage_;
};

}  // namespace thalweg
