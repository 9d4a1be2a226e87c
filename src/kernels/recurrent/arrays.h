#pragma once

// The operands of recurrent layers as rows: a sequence's elements at one time lie side by side.

#include <utility>

#include <thalweg/ops/op.h>

#include "device/scratch.h"
#include "tensor/copy.h"

namespace thalweg::sequence {

/// Rows [batch, n] or [batch, time, n] of a tensor; null for an absent input.
template <typename T>
struct Rows {
  T* data = nullptr;
  int64_t batch = 0, time = 0;  // strides

  T* at(int64_t b, int64_t t = 0) const { return data + b * batch + t * time; }
  explicit operator bool() const { return data != nullptr; }
};

template <typename T>
Rows<T> rows_of(const TensorImpl& tensor) {
  const Dims& strides = tensor.meta.strides;
  return {tensor.as<T>(), strides.size() > 1 ? strides[0] : 0, strides.size() > 2 ? strides[1] : 0};
}

/// An input as rows, copied where its rows have gaps.
template <typename T>
class InputRows {
 public:
  InputRows(const KernelContext& ctx, size_t i) {
    if (!ctx.has(i)) return;
    const TensorImpl& in = ctx.in(i);
    if (in.meta.strides.back() == 1 || in.meta.shape.back() == 1) {
      rows_ = rows_of<T>(in);
      return;
    }
    copy_ = TensorImpl::create();
    copy_->meta.dtype = in.meta.dtype;
    copy_->meta.set_row_major(in.meta.shape);
    copy_->allocate();
    copy_strided(*copy_, in);
    rows_ = rows_of<T>(*copy_);
  }

  T* at(int64_t b, int64_t t = 0) const { return rows_.at(b, t); }
  explicit operator bool() const { return static_cast<bool>(rows_); }
  int64_t batch_stride() const { return rows_.batch; }

 private:
  IntrusivePtr<TensorImpl> copy_;
  Rows<T> rows_;
};

/// The lengths of the sequences, and which of them go on at a time.
class Lengths {
 public:
  explicit Lengths(Scratch<int64_t> lengths) : lengths_(std::move(lengths)) {}

  bool goes_on(int64_t b, int64_t t) const { return t < lengths_[b]; }
  bool any_goes_on(int64_t begin, int64_t end, int64_t t) const {
    for (int64_t b = begin; b < end; ++b) {
      if (goes_on(b, t)) return true;
    }
    return false;
  }
  int64_t operator[](int64_t b) const { return lengths_[b]; }

 private:
  Scratch<int64_t> lengths_;
};

/// Sequences that a product takes at once.
inline constexpr int64_t kGroup = 64;
constexpr double kFlopsPerNs = 60;
/// Of one activation of one unit.
constexpr double kUnitNs = 2;

}  // namespace thalweg::sequence
