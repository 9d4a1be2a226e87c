#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace thalweg {

/// Base of objects counted from inside. The derived class gives `static void destroy(T*)`.
class RefCounted {
 public:
  void retain() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// True when this was the last reference. A sole owner needs no atomic write: nobody else can
  /// gain a reference meanwhile.
  bool release() const noexcept {
    return refs_.load(std::memory_order_acquire) == 1 ||
           refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Makes an object that was destroyed to a pool new again, with one reference.
  void revive() noexcept { refs_.store(1, std::memory_order_relaxed); }
  uint32_t use_count() const noexcept { return refs_.load(std::memory_order_acquire); }

 protected:
  RefCounted() = default;
  RefCounted(const RefCounted&) {}
  RefCounted& operator=(const RefCounted&) { return *this; }
  ~RefCounted() = default;

 private:
  mutable std::atomic<uint32_t> refs_{1};
};

/// Shared ownership of a RefCounted object; one pointer wide.
template <typename T>
class IntrusivePtr {
 public:
  IntrusivePtr() noexcept = default;
  IntrusivePtr(std::nullptr_t) noexcept {}
  IntrusivePtr(const IntrusivePtr& other) noexcept : p_(other.p_) {
    if (p_) p_->retain();
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~IntrusivePtr() { reset(); }

  /// Takes over the reference that a new object is born with.
  static IntrusivePtr adopt(T* p) noexcept {
    IntrusivePtr result;
    result.p_ = p;
    return result;
  }
  /// Adds a reference to an object that others own.
  static IntrusivePtr share(T* p) noexcept {
    if (p) p->retain();
    return adopt(p);
  }

  void reset() noexcept {
    T* p = std::exchange(p_, nullptr);
    if (p && p->release()) T::destroy(p);
  }
  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  friend bool operator==(const IntrusivePtr&, const IntrusivePtr&) = default;

 private:
  T* p_ = nullptr;
};

}  // namespace thalweg
