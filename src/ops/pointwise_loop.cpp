#include "ops/pointwise_loop.h"

#include <thalweg/base/threads.h>

#include "ops/pointwise_plan.h"

namespace thalweg {
namespace {

constexpr int64_t kTileElements = 16384;

PointwiseRow first_row(const KernelContext& ctx, const PointwisePlan& plan) {
  PointwiseRow row;
  row.out = ctx.out().as<char>();
  row.out_stride = plan.strides[0][0];
  for (size_t i = 1; i < plan.operands; ++i) {
    row.in[i - 1] = ctx.in(i - 1).as<const char>();
    row.in_stride[i - 1] = plan.strides[0][i];
  }
  row.n = plan.shape[0];
  return row;
}

void advance(PointwiseRow& row, const PointwisePlan& plan, size_t dim, int64_t steps) {
  row.out += plan.strides[dim][0] * steps;
  for (size_t i = 1; i < plan.operands; ++i) row.in[i - 1] += plan.strides[dim][i] * steps;
}

// All rows below dimension `dim` of the plan.
void walk(PointwiseRow row, const PointwisePlan& plan, size_t dim, PointwiseRowFn fn) {
  if (dim == 0) return fn(row);
  for (int64_t i = 0; i < plan.shape[dim]; ++i) {
    walk(row, plan, dim - 1, fn);
    advance(row, plan, dim, 1);
  }
}

// Cuts the outermost dimension into tiles of about kTileElements.
void walk_parallel(const PointwiseRow& start, const PointwisePlan& plan, PointwiseRowFn fn,
                   double ns_per_element) {
  const size_t top = plan.dims - 1;
  int64_t inner = 1;
  for (size_t d = 0; d < top; ++d) inner *= plan.shape[d];
  const int64_t grain = std::max<int64_t>(1, kTileElements / inner);
  parallel_ranges(plan.shape[top], grain, ns_per_element * static_cast<double>(inner),
                  [&](int64_t begin, int64_t end) {
                    PointwiseRow row = start;
                    advance(row, plan, top, begin);
                    if (top == 0) {
                      row.n = end - begin;
                      return fn(row);
                    }
                    for (int64_t i = begin; i < end; ++i) {
                      walk(row, plan, top - 1, fn);
                      advance(row, plan, top, 1);
                    }
                  });
}

// Operands of one shape and equal strides, or of one element: a single row.
bool single_row(const KernelContext& ctx, PointwiseRow& row) {
  const TensorImpl& out = ctx.out();
  if (!out.row_major) return false;
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    const TensorImpl& in = ctx.in(i);
    if (in.count == out.count && in.row_major && in.meta.shape.size() <= out.meta.shape.size()) {
      row.in_stride[i] = static_cast<int64_t>(item_size(in.meta.dtype));
    } else if (in.count == 1) {
      row.in_stride[i] = 0;
    } else {
      return false;
    }
    row.in[i] = in.as<const char>();
  }
  row.out = out.as<char>();
  row.out_stride = static_cast<int64_t>(item_size(out.meta.dtype));
  row.n = out.count;
  return true;
}

}  // namespace

PointwisePlan plan_pointwise(const KernelContext& ctx) {
  const TensorMeta& out = ctx.out().meta;
  const size_t n = out.shape.size();
  size_t order[kMaxDims];
  for (size_t i = 0; i < n; ++i) order[i] = n - 1 - i;
  for (size_t i = 1; i < n; ++i) {
    for (size_t j = i; j > 0 && out.strides[order[j]] < out.strides[order[j - 1]]; --j) {
      std::swap(order[j], order[j - 1]);
    }
  }
  PointwisePlan plan;
  plan.operands = ctx.inputs() + 1;
  for (size_t k = 0; k < n; ++k) {
    const size_t axis = order[k];
    const int64_t size = out.shape[axis];
    if (size == 1) continue;
    int64_t strides[PointwisePlan::kMostOperands];
    for (size_t o = 0; o < plan.operands; ++o) {
      const TensorMeta& m = o == 0 ? out : ctx.in(o - 1).meta;
      const size_t from_right = n - axis;
      const bool repeats = from_right > m.shape.size() || m.shape[m.shape.size() - from_right] == 1;
      strides[o] = repeats ? 0
                           : m.strides[m.shape.size() - from_right] *
                                 static_cast<int64_t>(item_size(m.dtype));
    }
    bool joins = plan.dims > 0;
    for (size_t o = 0; o < plan.operands && joins; ++o) {
      joins = strides[o] == plan.strides[plan.dims - 1][o] * plan.shape[plan.dims - 1];
    }
    if (joins) {
      plan.shape[plan.dims - 1] *= size;
      continue;
    }
    plan.shape[plan.dims] = size;
    for (size_t o = 0; o < plan.operands; ++o) plan.strides[plan.dims][o] = strides[o];
    ++plan.dims;
  }
  if (plan.dims == 0) {
    plan.dims = 1;
    plan.shape[0] = 1;
    for (size_t o = 0; o < plan.operands; ++o) plan.strides[0][o] = 0;
  }
  return plan;
}

void pointwise_loop(const KernelContext& ctx, PointwiseRowFn fn, double ns_per_element,
                    const void* context) {
  PointwiseRow row;
  row.context = context;
  const bool single = single_row(ctx, row);
  if (single && row.n <= kTileElements) {
    if (row.n) fn(row);
    return;
  }
  const int64_t size = ctx.out().count;
  if (size == 0) return;
  const PointwisePlan plan = plan_pointwise(ctx);
  row = first_row(ctx, plan);
  row.context = context;
  if (size <= kTileElements) return walk(row, plan, plan.dims - 1, fn);
  walk_parallel(row, plan, fn, ns_per_element);
}

}  // namespace thalweg
