#pragma once

// Elements by position. Indices are integer tensors of any width. One that is out of range is an
// Error{invalid} with its value and position: nothing is clipped. Where a function says so,
// negative indices count from the end.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Slices of one axis: x [A..., n, B...] and indices [I...] -> [A..., I..., B...]. Negative indices
/// count from the end. The gradient of a slice taken more than once is the sum, for halves made in
/// f32.
THALWEG_API Tensor take(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// What backward() makes of the gradient of an embedding's weight that is a leaf: all of it, or the
/// rows that were taken (see RowGradient), in time and memory that do not depend on n.
enum class EmbeddingGradient : uint8_t { dense, rows };
/// Rows of `weight` [n, B...] -> [I..., B...]; take() along axis 0 without negative indices.
THALWEG_API Tensor embedding(const Tensor& indices, const Tensor& weight,
                             EmbeddingGradient gradient = EmbeddingGradient::dense);
/// Element index[i, j, ...] of each line of x along `axis` (NumPy's take_along_axis). `index` has
/// x's dimensions and, on the other axes, x's sizes or 1, which is repeated; its shape is then the
/// result's. Negative indices count from the end.
THALWEG_API Tensor gather(const Tensor& x, const Tensor& index, int64_t axis);
/// A copy of x with src[i, j, ...] added to element index[i, j, ...] of the line along `axis`; the
/// reverse of gather. `src` has x's dtype and the shape of `index`. Repeated indices add up, for
/// halves in f32. Negative indices count from the end.
THALWEG_API Tensor scatter_add(const Tensor& x, const Tensor& index, const Tensor& src,
                               int64_t axis);
/// scatter_add to zeros, of `size` along the axis.
THALWEG_API Tensor scatter_add_to_zeros(const Tensor& src, const Tensor& index, int64_t axis,
                                        int64_t size);
/// One element of each line along `axis`, e.g. the score of each label: x [N, C] and index [N] ->
/// [N]. `index` has x's shape without the axis, or with size 1 there. No negative indices.
THALWEG_API Tensor pick(const Tensor& x, const Tensor& index, int64_t axis = -1,
                        bool keepdims = false);
/// indices [I...] -> [I..., classes]: 1 at the index, else 0. No negative indices, no gradient.
THALWEG_API Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype = DType::f32);

/// Positions of the elements that are not 0, in row-major order: i64 [count, x.dims()]. Reads the
/// elements on the host.
THALWEG_API Tensor nonzero(const Tensor& x);
/// Elements of x where `mask` (bool) holds, in row-major order. The mask has x's shape, or that of
/// its first axes: x [A..., B...] and mask [A...] -> [count, B...]. Reads the mask on the host.
THALWEG_API Tensor masked_select(const Tensor& x, const Tensor& mask);

}  // namespace thalweg
