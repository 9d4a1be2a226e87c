#pragma once

// Work with some slices of one axis of a row-major tensor on the cpu, in time that follows the
// number of slices, not the size of the axis.

#include <thalweg/ops/row_gradient.h>

namespace thalweg {

/// Which slices a list of positions names: each once in ascending order, and where the slice of
/// each position is among them.
struct TouchedRows {
  Tensor indices;  // i64 [n]
  Tensor places;   // i64, of the positions' shape
};
TouchedRows touched_rows(const Tensor& positions);

/// The slices of x that a gradient has, as it has them: [n, ...].
Tensor gather_slices(const Tensor& x, const RowGradient& which);
/// Puts them back; a change in place.
void scatter_slices(const Tensor& slices, const RowGradient& which, const Tensor& x);
/// Adds a gradient to a dense one; a change in place.
void add_slices(const RowGradient& gradient, const Tensor& x);
/// The sum of two gradients along one axis.
RowGradient sum_of(const RowGradient& a, const RowGradient& b);
/// Zeros in the place of a gradient: none of its slices.
RowGradient no_rows(const RowGradient& like);

}  // namespace thalweg
