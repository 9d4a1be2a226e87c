#pragma once

// The tensors of a call in the form that our kernels of convolution take.

#include "device/scratch.h"
#include "kernels/gemm/pack.h"
#include "ops/conv.h"

namespace thalweg::conv {

/// Channels side by side, pixels evenly behind each other.
bool is_even(const SpatialStrides& s, int64_t channels, const int64_t (&sizes)[3]);

IntrusivePtr<TensorImpl> channels_last_copy(const TensorImpl& from);

/// The problem's y, when it is an input: as it is, or a copy with channels last.
template <typename T>
class EvenResult {
 public:
  EvenResult(ConvProblem& p, const TensorImpl& y) : data_(y.as<T>()) {
    if (is_even(p.y, p.groups * p.out_channels, p.out)) return;
    copy_ = channels_last_copy(y);
    p.y = spatial_strides(copy_->meta);
    data_ = copy_->as<T>();
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  IntrusivePtr<TensorImpl> copy_;
};

/// The bias of a call with contiguous elements; null if there is none.
template <typename T>
class Bias {
 public:
  explicit Bias(const KernelContext& ctx)
      : copy_(ctx.has(2) && ctx.in(2).meta.strides[0] != 1 ? ctx.in(2).meta.size() : 0) {
    if (!ctx.has(2)) return;
    const TensorMeta& meta = ctx.in(2).meta;
    data_ = ctx.in(2).as<T>();
    if (meta.strides[0] == 1) return;
    gemm::pack({data_, meta.strides[0], 1}, meta.size(), 1, copy_.data(), 1);
    data_ = copy_.data();
  }
  const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  Scratch<T> copy_;
};

}  // namespace thalweg::conv
