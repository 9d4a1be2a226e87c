#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "data/pages.h"

namespace thalweg::data {

/// Numbers one after another that grow without being set to 0 first; see resize_pages.
template <typename T>
class Column {
 public:
  Column() = default;
  ~Column() { resize_pages(data_, bytes(), 0); }
  Column(Column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t bytes() const { return capacity_ * sizeof(T); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T& back() const { return data_[size_ - 1]; }

  /// Room for `n` more after the last; they count once commit() says how many.
  T* room(size_t n) {
    if (capacity_ - size_ < n) grow(size_ + n);
    return data_ + size_;
  }
  void commit(size_t n) { size_ += n; }
  void push_back(T value) {
    *room(1) = value;
    ++size_;
  }
  void truncate(size_t size) { size_ = size; }

  /// Gives back what growth took too much.
  void shrink() {
    if (size_ > 0 && size_ < capacity_) resize_memory(size_);
  }

 private:
  [[gnu::noinline]] void grow(size_t needed) {
    resize_memory(std::max(needed, std::max<size_t>(64, capacity_ + capacity_ / 2)));
  }
  void resize_memory(size_t capacity) {
    if (capacity > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    data_ = static_cast<T*>(resize_pages(data_, bytes(), capacity * sizeof(T)));
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace thalweg::data
