#pragma once

// The families of kernels; each adds itself to the op table.

#include "kernels/cuda/nvrtc.h"
#include "ops/compose.h"

namespace thalweg::cuda {

/// The rows of pointwise.def with cast, where, clip and copies.
void register_pointwise();
/// sum and mean.
void register_reductions();
/// softmax, log_softmax, softmax_cross_entropy.
void register_softmax();
/// The rules that change weights.
void register_updates();
/// The norm of all gradients.
void register_norm();
/// matmul and linear.
void register_products();

/// Runs of point-wise records in plans.
void register_fusion();

/// For kernels that are compiled at run time.
inline const char* refuse_without_compiler(const KernelContext&) { return why_no_compiler(); }

}  // namespace thalweg::cuda
