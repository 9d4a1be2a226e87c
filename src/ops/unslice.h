#pragma once

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Zeros of x's shape with `size` positions along `axis` (counted from 0), x from `start` on.
Tensor unslice(const Tensor& x, int64_t axis, int64_t start, int64_t size);

}  // namespace thalweg
