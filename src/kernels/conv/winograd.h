#pragma once

// 3 x 3 convolutions by Winograd's F(4x4, 3x3): a quarter of the multiplications, as 36 products of
// matrices, for somewhat larger rounding errors (about 5 ulp of the largest product where products
// of patches have 1).

#include "ops/conv.h"

namespace thalweg::conv::winograd {

/// Why the problem is not one for this file; null if it is.
const char* refuse(const ConvProblem& p);

/// As conv::forward, conv::transpose and conv::weight_gradient; x has its channels side by side.
void forward(const ConvProblem& p, const float* x, const float* w, const float* bias, float* y);
void transpose(const ConvProblem& p, const float* y, const float* w, const float* bias, float* x);
void weight_gradient(const ConvProblem& p, const float* x, const float* y, float* w);

}  // namespace thalweg::conv::winograd
