#pragma once

namespace thalweg::simd {

/// Fills the table that the kernels below look up.
void choose_reduce_target();

/// Adds the SIMD kernels of sum, mean, max, min, argmax, argmin and norm to the op table.
void register_reductions();

}  // namespace thalweg::simd
