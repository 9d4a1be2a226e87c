#pragma once

#include <algorithm>
#include <cstdint>

#include <thalweg/device/memory.h>

namespace thalweg {

/// Uninitialised memory for the time of a kernel, from the cpu's pool.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : storage_(Storage::allocate(Device::cpu(), static_cast<size_t>(count) * sizeof(T))),
        data_(static_cast<T*>(storage_->data())),
        count_(count) {}
  Scratch(int64_t count, T value) : Scratch(count) { std::fill_n(data_, count, value); }

  int64_t size() const { return count_; }
  T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  IntrusivePtr<Storage> storage_;
  T* data_;
  int64_t count_;
};

}  // namespace thalweg
