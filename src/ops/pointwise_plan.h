#pragma once

// How the elements of broadcasting point-wise operands lie, with as few dimensions as there can be.

#include "ops/pointwise_loop.h"

namespace thalweg {

struct PointwisePlan {
  static constexpr size_t kMostOperands = kMaxPointwiseInputs + 1;

  size_t operands;  // the output, then the inputs
  size_t dims = 0;  // at least 1; from the innermost out
  int64_t shape[kMaxDims];
  int64_t strides[kMaxDims][kMostOperands];  // in bytes; 0 repeats an element
};

/// Dimensions in the order of the output's strides; neighbours that every operand walks without a
/// jump are joined.
PointwisePlan plan_pointwise(const KernelContext& ctx);

}  // namespace thalweg
