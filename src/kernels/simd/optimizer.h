#pragma once

namespace thalweg::simd {

/// Fills the tables that the kernels below look up.
void choose_optimizer_target();

/// Adds the SIMD kernels of the optimizers' updates and of global_norm to the op table.
void register_optimizers();

}  // namespace thalweg::simd
