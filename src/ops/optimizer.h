#pragma once

// What the kernels of the update rows share.

#include <thalweg/ops/optimizer.h>

namespace thalweg {

/// The operands of an update row by their meaning, see include/thalweg/ops/optimizer.h.
template <typename Attrs, typename Numbers>
class UpdateArguments {
 public:
  explicit UpdateArguments(const KernelContext& ctx)
      : ctx_(ctx), count_(static_cast<size_t>(ctx.attrs<Attrs>().tensors)) {}

  const Attrs& attrs() const { return ctx_.attrs<Attrs>(); }
  size_t tensors() const { return count_; }
  const Numbers& numbers(size_t i) const { return ctx_.in(0).as<const Numbers>()[i]; }
  const TensorImpl& weight(size_t i) const { return ctx_.in(1 + i); }
  const TensorImpl& gradient(size_t i) const { return ctx_.in(1 + count_ + i); }
  const TensorImpl& state(size_t which, size_t i) const {
    return ctx_.in(1 + (2 + which) * count_ + i);
  }
  TensorImpl& new_weight(size_t i) const { return ctx_.out(i); }
  TensorImpl& new_state(size_t which, size_t i) const { return ctx_.out((1 + which) * count_ + i); }

 private:
  const KernelContext& ctx_;
  size_t count_;
};

}  // namespace thalweg
