#pragma once

// Walks the elements of broadcasting point-wise operands: one loop for every such kernel, which
// gives only its innermost row.

#include <thalweg/ops/op.h>

namespace thalweg {

inline constexpr size_t kMaxPointwiseInputs = 4;

/// Handles `n` elements of a row. Strides are in bytes; 0 repeats an element.
struct PointwiseRow {
  char* out;
  int64_t out_stride;
  const char* in[kMaxPointwiseInputs];
  int64_t in_stride[kMaxPointwiseInputs];
  int64_t n;
  const void* context;  // what the kernel gave to pointwise_loop
};
using PointwiseRowFn = void (*)(const PointwiseRow&);

/// Runs `row` over all elements of ctx.out(0) and its inputs broadcast to that shape, in parallel
/// when the work is worth it; `ns_per_element` is an estimate. Equal strides collapse to long rows.
void pointwise_loop(const KernelContext& ctx, PointwiseRowFn row, double ns_per_element,
                    const void* context = nullptr);

}  // namespace thalweg
