#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace thalweg {

/// Throws Error{invalid}: more than `capacity` elements were put into an InlineVector.
[[noreturn]] void throw_inline_vector_full(size_t capacity);

/// A vector of at most `Capacity` trivially copyable elements that never touches the heap.
template <typename T, size_t Capacity>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Elements beyond size() are left as they were: tensors are made too often to clear them.
  constexpr InlineVector() {
    if (std::is_constant_evaluated()) {
      for (T& element : data_) element = T();
    }
  }
  constexpr InlineVector(std::initializer_list<T> values) : InlineVector() {
    for (const T& v : values) push_back(v);
  }
  constexpr InlineVector(std::span<const T> values) : InlineVector() {
    for (const T& v : values) push_back(v);
  }
  constexpr InlineVector(size_t count, const T& value) : InlineVector() {
    for (size_t i = 0; i < count; ++i) push_back(value);
  }

  static constexpr size_t capacity() { return Capacity; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr T& operator[](size_t i) { return data_[i]; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

  constexpr void push_back(const T& value) {
    if (size_ == Capacity) throw_inline_vector_full(Capacity);
    data_[size_++] = value;
  }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }
  constexpr void resize(size_t size, const T& value = T()) {
    if (size > Capacity) throw_inline_vector_full(Capacity);
    for (size_t i = size_; i < size; ++i) data_[i] = value;
    size_ = static_cast<unsigned>(size);
  }
  constexpr void insert(size_t at, const T& value) {
    push_back(value);
    for (size_t i = size_ - 1; i > at; --i) data_[i] = data_[i - 1];
    data_[at] = value;
  }
  constexpr void erase(size_t at) {
    for (size_t i = at + 1; i < size_; ++i) data_[i - 1] = data_[i];
    --size_;
  }

  constexpr operator std::span<const T>() const { return {data_, size_}; }
  friend constexpr bool operator==(const InlineVector& a, const InlineVector& b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  unsigned size_ = 0;
  T data_[Capacity];
};

}  // namespace thalweg
