#pragma once

#include <thalweg/ops/op.h>

namespace thalweg {

void reference_conv(const KernelContext& ctx);
void reference_conv_transpose(const KernelContext& ctx);
void reference_conv_weight_gradient(const KernelContext& ctx);

}  // namespace thalweg
