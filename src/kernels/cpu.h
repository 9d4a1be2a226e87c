#pragma once

namespace thalweg {

/// Adds the fast cpu kernels that were built in to the op table, fastest first.
void register_cpu_kernels();

/// matmul and linear.
void register_gemm_kernels();

}  // namespace thalweg
