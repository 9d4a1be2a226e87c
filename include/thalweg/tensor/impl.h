#pragma once

#include <memory>

#include <thalweg/base/intrusive_ptr.h>
#include <thalweg/device/memory.h>
#include <thalweg/tensor/meta.h>

namespace thalweg {

class TensorImpl;

/// The part of a tape that a recorded tensor keeps alive; room graph derives from it.
class TapeSegment : public RefCounted {
 public:
  virtual ~TapeSegment() = default;
  static void destroy(TapeSegment* segment) { segment->dispose(); }

 private:
  virtual void dispose() { delete this; }
};

/// How backward() writes the gradient of a leaf: replace it, add to it, or leave it out.
enum class GradReq : uint8_t { null, write, add };

/// Where the gradient of a leaf goes; room graph derives from it.
class LeafGrad {
 public:
  virtual ~LeafGrad() = default;
  GradReq req = GradReq::null;
};

/// Learns when this thread looks at, or changes, elements without an op: data(), item(), printing.
class HostObserver {
 public:
  virtual ~HostObserver() = default;
  virtual void host_access(const TensorImpl& tensor, const char* operation) = 0;
};

/// Replaces the calling thread's observer, null for none, and gives back the one before.
THALWEG_API HostObserver* set_host_observer(HostObserver* observer) noexcept;

/// What a Tensor handle points to. For authors of ops and kernels.
class THALWEG_API TensorImpl : public RefCounted {
 public:
  /// A tensor without storage; the caller fills meta and calls allocate() or alias().
  static IntrusivePtr<TensorImpl> create();
  static void destroy(TensorImpl* impl);

  /// New storage for meta's size and dtype; meta.offset must be 0.
  void allocate();
  /// Shares `storage`; data follows meta.offset.
  void alias(IntrusivePtr<Storage> shared);
  /// Takes the storage and meta of another tensor, which is left without.
  void take(TensorImpl& other);

  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data);
  }
  bool is_recorded() const noexcept { return static_cast<bool>(segment); }
  bool is_leaf() const noexcept { return leaf && leaf->req != GradReq::null; }

  // allocate(), alias() and take() derive what follows from meta.
  TensorMeta meta;
  void* data = nullptr;   // the first element
  int64_t count = 0;      // meta.size()
  bool row_major = true;  // meta.is_contiguous()
  IntrusivePtr<Storage> storage;

  IntrusivePtr<TapeSegment> segment;  // set when a recorded op made this tensor
  uint32_t value = 0;                 // its number on the segment
  std::unique_ptr<LeafGrad> leaf;

 private:
  TensorImpl() {}  // not defaulted: T() would clear all of it first
  ~TensorImpl() = default;

  bool follow_meta();
};

}  // namespace thalweg
