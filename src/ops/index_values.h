#pragma once

#include <optional>

#include <thalweg/ops/op.h>

#include "ops/reference.h"

namespace thalweg {

/// Throws Error{invalid} unless input i has an integer dtype.
void require_index(const InferContext& ctx, size_t i);

/// The indices that input i of a kernel holds, checked, as positions 0 .. size - 1.
class IndexValues {
 public:
  /// Negative values count from the end if `from_end` is set. Throws Error{invalid} for a value out
  /// of range: the one error that only a kernel can find. `axis` is for its text.
  IndexValues(const KernelContext& ctx, size_t i, int64_t size, bool from_end, int64_t axis);

  const int64_t* data() const { return data_; }
  /// Of the indices' shape; dense.
  const Dims& strides() const { return strides_; }
  bool is_row_major() const { return row_major_; }

 private:
  const int64_t* data_;
  Dims strides_;
  bool row_major_ = true;
  std::optional<Scratch<int64_t>> copy_;
};

}  // namespace thalweg
