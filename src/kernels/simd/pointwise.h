#pragma once

namespace thalweg::simd {

/// Fills the tables that the kernels below look up with the loops of the best target that the
/// processor has; again when tests have named another one.
void choose_pointwise_target();

/// Adds the SIMD kernels of the point-wise ops to the op table.
void register_pointwise();

}  // namespace thalweg::simd
