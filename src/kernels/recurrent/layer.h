#pragma once

#include <thalweg/ops/op.h>

#include "kernels/recurrent/cells.h"

namespace thalweg::sequence {

/// The kernels of ops recurrent and recurrent_vjp, for floating elements of T.
template <typename T>
void forward(const KernelContext& ctx, const CellFns<T>& cell);
template <typename T>
void backward(const KernelContext& ctx, const CellFns<T>& cell);

}  // namespace thalweg::sequence
