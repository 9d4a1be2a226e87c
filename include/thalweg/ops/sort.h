#pragma once

// Sorting along an axis. NaN counts as larger than every number; equal elements keep their order,
// so that results are the same everywhere. Gradients flow through the values.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

struct SortOptions {
  int64_t axis = -1;
  bool descending = false;
};

/// Values, and the positions (i64) along the axis that they had.
struct Sorted {
  Tensor values;
  Tensor indices;
};

/// All elements of each line along the axis in order.
THALWEG_API Sorted sort(const Tensor& x, const SortOptions& options = {});
/// Only the positions: gather(x, argsort(x), axis) is sorted.
THALWEG_API Tensor argsort(const Tensor& x, const SortOptions& options = {});

struct TopkOptions {
  int64_t axis = -1;
  bool largest = true;  ///< else the smallest
};

/// The k largest elements of each line along the axis, the largest first. 0 <= k <= its size.
THALWEG_API Sorted topk(const Tensor& x, int64_t k, const TopkOptions& options = {});

}  // namespace thalweg
