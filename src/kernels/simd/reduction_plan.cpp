#include "kernels/simd/reduction_plan.h"

#include <limits>
#include <utility>

namespace thalweg::simd {
namespace {

struct Axis {
  ReductionAxis axis;
  bool folded;
};
using Axes = InlineVector<Axis, kMaxDims>;

// Repeated elements count as the farthest apart.
int64_t distance(const Axis& a) {
  return a.axis.in_stride == 0 ? std::numeric_limits<int64_t>::max() : a.axis.in_stride;
}

// Without axes of size 1, the outermost in memory first.
Axes axes_by_stride(const TensorMeta& in, const Dims& folded_axes) {
  const int64_t bytes = static_cast<int64_t>(item_size(in.dtype));
  Axes axes;
  int64_t out_stride = 1;
  size_t next_folded = folded_axes.size();
  for (size_t i = in.shape.size(); i-- > 0;) {
    const bool folded = next_folded > 0 && folded_axes[next_folded - 1] == static_cast<int64_t>(i);
    if (folded) --next_folded;
    if (in.shape[i] != 1) {
      axes.push_back({{in.shape[i], in.strides[i] * bytes, folded ? 0 : out_stride}, folded});
      for (size_t k = axes.size(); k-- > 1 && distance(axes[k]) >= distance(axes[k - 1]);) {
        std::swap(axes[k], axes[k - 1]);
      }
    }
    if (!folded) out_stride *= in.shape[i];
  }
  return axes;
}

// True if `outer` steps over whole rounds of `inner`, in the input and in the result.
bool joins(const Axis& outer, const Axis& inner) {
  return outer.folded == inner.folded &&
         outer.axis.in_stride == inner.axis.in_stride * inner.axis.size &&
         outer.axis.out_stride == inner.axis.out_stride * inner.axis.size;
}

// The plans of most reductions, without the work of finding them: everything in a row, or the rows
// of a matrix.
bool plan_plain(const TensorMeta& in, const Dims& folded_axes, ReductionPlan& plan) {
  const int64_t bytes = static_cast<int64_t>(item_size(in.dtype));
  if (!in.is_contiguous()) return false;
  if (folded_axes.size() == in.shape.size() && in.size() > 1) {
    plan.inner = {in.size(), bytes, 0};
    return true;
  }
  const bool folds_rows = in.shape.size() == 2 && folded_axes.size() == 1 && folded_axes[0] == 0;
  if (!folds_rows || in.shape[0] < 2 || in.shape[1] < 2) return false;
  plan.folded.push_back({in.shape[0], in.shape[1] * bytes, 0});
  plan.inner = {in.shape[1], bytes, 1};
  plan.inner_is_kept = true;
  return true;
}

}  // namespace

ReductionPlan plan_reduction(const TensorMeta& in, const Dims& folded_axes) {
  ReductionPlan plan{{}, {}, {1, 0, 0}, false};
  if (plan_plain(in, folded_axes, plan)) return plan;
  Axes joined;
  for (const Axis& a : axes_by_stride(in, folded_axes)) {
    if (!joined.empty() && joins(joined.back(), a)) {
      joined.back().axis = {joined.back().axis.size * a.axis.size, a.axis.in_stride,
                            a.axis.out_stride};
    } else {
      joined.push_back(a);
    }
  }
  const int64_t bytes = static_cast<int64_t>(item_size(in.dtype));
  if (!joined.empty() && joined.back().axis.in_stride == bytes) {
    plan.inner = joined.back().axis;
    plan.inner_is_kept = !joined.back().folded;
    joined.pop_back();
  }
  for (const Axis& a : joined) (a.folded ? plan.folded : plan.kept).push_back(a.axis);
  return plan;
}

}  // namespace thalweg::simd
