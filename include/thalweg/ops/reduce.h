#pragma once

// Reductions. `axes` empty means all axes; negative axes count from the end. Without keepdims the
// reduced axes are dropped, with it they stay with size 1.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// The sum. Integers and bool are summed in i64, halves in f32 and rounded once.
THALWEG_API Tensor sum(const Tensor& x, const Dims& axes = {}, bool keepdims = false);
/// The arithmetic mean; of nothing, NaN.
THALWEG_API Tensor mean(const Tensor& x, const Dims& axes = {}, bool keepdims = false);

}  // namespace thalweg
