#pragma once

// Convolution as products of matrices: the patches of a block of pixels are copied side by side and
// meet the weights. Any shape; the copies cost little beside the product unless a group has very
// few result channels.

#include "ops/conv.h"

namespace thalweg::conv {

/// y = conv(x, w) + bias [groups * out_channels], null for none. y's channels lie side by side and
/// its pixels evenly.
template <typename T>
void forward(const ConvProblem& p, const T* x, const T* w, const T* bias, T* y);

/// x = the sum over all windows of w times the window's element of y, plus bias
/// [groups * in_channels]. x and y have their channels side by side and their pixels evenly.
template <typename T>
void transpose(const ConvProblem& p, const T* y, const T* w, const T* bias, T* x);

/// w = the sum over all windows of x times the window's element of y. y as above.
template <typename T>
void weight_gradient(const ConvProblem& p, const T* x, const T* y, T* w);

}  // namespace thalweg::conv
