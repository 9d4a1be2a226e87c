#pragma once

#include "kernels/conv/patches.h"

namespace thalweg::conv {

/// The weights of one group as the operand of a product of patches: [patch_size, out_channels].
template <typename T>
void pack_taps_by_channels(const ConvProblem& p, const T* w, int64_t group, T* to);

/// The same, transposed: [out_channels, patch_size].
template <typename T>
void pack_channels_by_taps(const ConvProblem& p, const T* w, int64_t group, T* to);

/// The reverse of pack_channels_by_taps: stores a gradient to the weights' tensor.
template <typename T>
void unpack_channels_by_taps(const ConvProblem& p, const T* from, int64_t group, T* w);

}  // namespace thalweg::conv
