#pragma once

// Pooling of channels that lie side by side in memory: each window is folded a vector of channels
// at a time.

#include "ops/pool.h"

namespace thalweg::simd {

/// A range of one axis: the elements of x in a window of y, or the windows that an element of x is
/// in.
struct PoolSpan {
  int64_t first, end;
};

/// Rows [begin, end) of the output: row (n * size[0] + d) * size[1] + h of its three axes.
struct PoolRows {
  const PoolProblem& problem;
  const void* in;
  void* out;
  int64_t* indices;          // of max_pool
  const PoolSpan* spans[3];  // by position on the output's axes
  const int64_t* counts[3];  // by position on y's axes: a mean's divisor is their product
  int64_t begin, end;
};
using PoolRowsFn = void (*)(const PoolRows&);

/// The loops of the best target, by floating dtype. The gradient's rows are those of its output,
/// counted by in[]; its input is y.
struct PoolTable {
  PoolRowsFn max[4];
  PoolRowsFn average[4];
  PoolRowsFn average_gradient[4];
};
void fill_pool(PoolTable& table);

}  // namespace thalweg::simd
