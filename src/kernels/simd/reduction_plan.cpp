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

// Most calls: neighbouring axes of a row-major input.
ReductionPlan plan_row_major(const TensorMeta& in, const Dims& folded_axes) {
  const auto first = static_cast<size_t>(folded_axes[0]);
  const size_t end = first + folded_axes.size();
  int64_t before = 1, folded = 1, after = 1;
  for (size_t i = 0; i < first; ++i) before *= in.shape[i];
  for (size_t i = first; i < end; ++i) folded *= in.shape[i];
  for (size_t i = end; i < in.shape.size(); ++i) after *= in.shape[i];
  const int64_t bytes = static_cast<int64_t>(item_size(in.dtype));
  ReductionPlan plan{{}, {}, {1, 0, 0}, false};
  if (after != 1) {
    plan.inner = {after, bytes, 1};
    plan.inner_is_kept = true;
    if (folded != 1) plan.folded.push_back({folded, after * bytes, 0});
    if (before != 1) plan.kept.push_back({before, folded * after * bytes, after});
  } else if (folded != 1) {
    plan.inner = {folded, bytes, 0};
    if (before != 1) plan.kept.push_back({before, folded * bytes, 1});
  } else if (before != 1) {
    plan.inner = {before, bytes, 1};
    plan.inner_is_kept = true;
  }
  return plan;
}

ReductionPlan plan_any(const TensorMeta& in, const Dims& folded_axes) {
  Axes joined;
  for (const Axis& a : axes_by_stride(in, folded_axes)) {
    if (!joined.empty() && joins(joined.back(), a)) {
      joined.back().axis = {joined.back().axis.size * a.axis.size, a.axis.in_stride,
                            a.axis.out_stride};
    } else {
      joined.push_back(a);
    }
  }
  ReductionPlan plan{{}, {}, {1, 0, 0}, false};
  const int64_t bytes = static_cast<int64_t>(item_size(in.dtype));
  if (!joined.empty() && joined.back().axis.in_stride == bytes) {
    plan.inner = joined.back().axis;
    plan.inner_is_kept = !joined.back().folded;
    joined.pop_back();
  }
  for (const Axis& a : joined) (a.folded ? plan.folded : plan.kept).push_back(a.axis);
  return plan;
}

}  // namespace

ReductionPlan plan_reduction(const TensorImpl& in, const Dims& folded_axes) {
  const bool neighbours = !folded_axes.empty() && folded_axes.back() - folded_axes[0] + 1 ==
                                                      static_cast<int64_t>(folded_axes.size());
  return in.row_major && neighbours ? plan_row_major(in.meta, folded_axes)
                                    : plan_any(in.meta, folded_axes);
}

}  // namespace thalweg::simd
