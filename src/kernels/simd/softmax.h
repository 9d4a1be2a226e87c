#pragma once

namespace thalweg::simd {

/// Fills the table that the kernels below look up.
void choose_softmax_target();

/// Adds the SIMD kernels of softmax, log_softmax, logsumexp and softmax_cross_entropy to the op
/// table.
void register_softmax();

}  // namespace thalweg::simd
