#pragma once

// Walks several arrays of one shape together.

#include <array>

#include "ops/layout.h"

namespace thalweg {

/// Calls f(positions, n, steps) for rows of `shape`: element k of array i is at positions[i] +
/// k * steps[i]. Axes are nested by the strides of array 0, largest outside; so elements that
/// differ in one axis only come in its order.
template <size_t kArrays, typename F>
void walk_rows(const Shape& shape, const std::array<Dims, kArrays>& strides, F&& f) {
  using Positions = std::array<int64_t, kArrays>;
  if (element_count(shape) == 0) return;
  Positions at{}, steps{};
  if (shape.empty()) return f(at, int64_t{1}, steps);
  const Dims order = axes_by_stride(strides[0]);
  const int64_t inner = order.back();
  for (size_t i = 0; i < kArrays; ++i) steps[i] = strides[i][inner];
  Dims index(shape.size(), 0);
  for (;;) {
    f(at, shape[inner], steps);
    size_t k = order.size() - 1;
    for (;;) {
      if (k == 0) return;
      const int64_t axis = order[--k];
      const bool done = ++index[axis] == shape[axis];
      for (size_t i = 0; i < kArrays; ++i) {
        at[i] += done ? -strides[i][axis] * (shape[axis] - 1) : strides[i][axis];
      }
      if (!done) break;
      index[axis] = 0;
    }
  }
}

}  // namespace thalweg
