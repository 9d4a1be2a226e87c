#pragma once

// The order of a dense array's axes in memory.

#include <thalweg/tensor/meta.h>

namespace thalweg {

/// Strides of a dense [N, C, spatial...] array whose channels lie side by side.
Dims channels_last_strides(const Shape& shape);
/// Strides of a dense array of `shape` whose axes are nested as those of `model`, which has as many
/// dimensions; row-major when `model` is not dense.
Dims strides_like(const TensorMeta& model, const Shape& shape);
/// The axes from the outermost in memory to the innermost; equal strides keep their order.
Dims axes_by_stride(const Dims& strides);

}  // namespace thalweg
