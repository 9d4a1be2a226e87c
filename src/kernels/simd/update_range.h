#pragma once

// The loops of the optimizers' updates over the elements of one tensor.

#include "kernels/simd/fold.h"
#include "ops/optimizer.h"

namespace thalweg::simd {

/// Elements side by side of a weight, its gradient and its states, old and new. States have the
/// type of the arithmetic, f64 for f64 weights and f32 for others.
struct UpdateRange {
  const void* numbers;  // of the rule, e.g. SgdNumbers
  const void* weight;
  const void* gradient;
  const void* state[3];
  void* new_weight;
  void* new_state[3];
  int64_t n;
};
using UpdateFn = void (*)(const UpdateRange&);

/// By the weight's dtype.
struct UpdateTable {
  UpdateFn sgd[2][kFloatDTypes] = {};  // [momentum]
  UpdateFn adam[kFloatDTypes] = {};
  UpdateFn rmsprop[2][2][kFloatDTypes] = {};  // [centered][momentum]
  UpdateFn adagrad[kFloatDTypes] = {};
};

void fill_updates(UpdateTable& table);

}  // namespace thalweg::simd
