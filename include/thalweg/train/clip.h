#pragma once

// Clipping of gradients by hand. A Trainer does it as part of its step, see TrainerOptions.

#include <span>

#include <thalweg/tensor/tensor.h>

namespace thalweg::train {

/// The root of the sum of squares over all elements of all tensors, which are floating; summed in
/// f64. 0 for no tensors.
THALWEG_API double global_norm(std::span<const Tensor> tensors);

/// Multiplies all tensors by min(1, max_norm / norm), in place, and returns the norm they had.
/// Throws Error{invalid}, with the first tensor to blame, if that is not finite, and for a negative
/// max_norm; nothing is changed then.
THALWEG_API double clip_global_norm(std::span<const Tensor> tensors, double max_norm);

/// Holds all elements within [-max, max], in place; NaN stays. Throws Error{invalid} for a negative
/// or NaN max.
THALWEG_API void clip_value(std::span<const Tensor> tensors, double max);

/// x * min(1, max_norm / norm(x)) as a function that has a gradient; the identity at zero.
THALWEG_API Tensor clip_norm(const Tensor& x, double max_norm);

}  // namespace thalweg::train
