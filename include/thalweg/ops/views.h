#pragma once

// Ops that give another view of the same elements, and the copies that undo it.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// `x` repeated along new and size-1 dimensions to `shape` (NumPy's rule); a view with stride 0.
THALWEG_API Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// The reverse: sums the dimensions that broadcasting `shape` to x's shape would repeat. `x` itself
/// when the shapes are equal.
THALWEG_API Tensor sum_to(const Tensor& x, const Shape& shape);
/// Every element in a new order of axes; a view.
THALWEG_API Tensor permute(const Tensor& x, const Dims& axes);
/// Swaps two axes; a view.
THALWEG_API Tensor transpose(const Tensor& x, int64_t a = -2, int64_t b = -1);
/// The same elements, row-major order kept, in another shape; one size may be -1. A view where the
/// strides allow it.
THALWEG_API Tensor reshape(const Tensor& x, const Shape& shape);
/// All dimensions from `start_axis` on joined into one.
THALWEG_API Tensor flatten(const Tensor& x, int64_t start_axis = 0);
/// Elements start, start + step, ... below stop of one axis; a view. Positions outside are clamped,
/// negative ones count from the end. step must not be 0; a negative one walks backwards.
THALWEG_API Tensor slice(const Tensor& x, int64_t axis, int64_t start, int64_t stop,
                         int64_t step = 1);
/// A new axis of size 1.
THALWEG_API Tensor expand_dims(const Tensor& x, int64_t axis);
/// Without the axes of size 1, or without just the given ones, which must have size 1.
THALWEG_API Tensor squeeze(const Tensor& x, const Dims& axes = {});
/// Row-major elements: `x` itself when it is so.
THALWEG_API Tensor contiguous(const Tensor& x);

}  // namespace thalweg
