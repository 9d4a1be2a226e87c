#pragma once

namespace thalweg::simd {

/// Fills the table that the kernels below look up.
void choose_pool_target();

/// Adds the SIMD kernels of pooling to the op table.
void register_pools();

}  // namespace thalweg::simd
