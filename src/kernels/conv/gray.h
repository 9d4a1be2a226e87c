#pragma once

// Convolutions of images with one channel, where products of patches would leave most of a vector
// empty: here a vector is a run of pixels, and a few result channels share its loads.

#include "ops/conv.h"

namespace thalweg::conv::gray {

/// Why the problem is not one for this file; null if it is.
const char* refuse(const ConvProblem& p);

/// As conv::forward and conv::weight_gradient.
void forward(const ConvProblem& p, const float* x, const float* w, const float* bias, float* y);
void weight_gradient(const ConvProblem& p, const float* x, const float* y, float* w);

}  // namespace thalweg::conv::gray
