#pragma once

namespace thalweg::simd {

/// Fills the tables that the kernels below look up.
void choose_batch_norm_target();
void choose_layer_norm_target();

/// Adds the SIMD kernels of batch norm, and of layer and RMS norm, to the op table.
void register_batch_norm();
void register_layer_norm();

}  // namespace thalweg::simd
