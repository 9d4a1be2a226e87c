#pragma once

// How the elements of a reduction lie in memory: axes are joined where they lie without jumps, and
// either the innermost one is folded (runs of neighbours) or it is kept (rows of columns).

#include <thalweg/ops/op.h>

namespace thalweg::simd {

struct ReductionAxis {
  int64_t size;
  int64_t in_stride;   // in bytes
  int64_t out_stride;  // in elements of the result; 0 for a folded axis
};
using ReductionAxes = InlineVector<ReductionAxis, kMaxDims>;

constexpr int64_t axes_count(const ReductionAxes& axes) {
  int64_t n = 1;
  for (const ReductionAxis& axis : axes) n *= axis.size;
  return n;
}

struct ReductionPlan {
  ReductionAxes kept;    // outermost first, without `inner`
  ReductionAxes folded;  // the same
  ReductionAxis inner;   // of neighbours; its size is 1 where no axis has neighbours
  bool inner_is_kept;
};

/// The plan for an input and the sorted axes that are folded; the output is row-major.
ReductionPlan plan_reduction(const TensorImpl& in, const Dims& axes);

/// A walk over the positions of axes, row-major, from the position of a given number.
class AxesWalk {
 public:
  AxesWalk(const ReductionAxes& axes, int64_t start) : axes_(axes), index_(axes.size(), 0) {
    for (size_t i = axes.size(); i-- > 0;) {
      index_[i] = start % axes[i].size;
      start /= axes[i].size;
      in_ += index_[i] * axes[i].in_stride;
      out_ += index_[i] * axes[i].out_stride;
    }
  }
  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  void next() {
    for (size_t i = axes_.size(); i-- > 0;) {
      in_ += axes_[i].in_stride;
      out_ += axes_[i].out_stride;
      if (++index_[i] < axes_[i].size) return;
      in_ -= axes_[i].in_stride * axes_[i].size;
      out_ -= axes_[i].out_stride * axes_[i].size;
      index_[i] = 0;
    }
  }

 private:
  const ReductionAxes& axes_;
  Dims index_;
  int64_t in_ = 0;
  int64_t out_ = 0;
};

}  // namespace thalweg::simd
