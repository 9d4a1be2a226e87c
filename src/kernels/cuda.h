#pragma once

namespace thalweg {

/// Adds the kernels for CUDA devices to the op table, fastest first.
void register_cuda_kernels();

}  // namespace thalweg
