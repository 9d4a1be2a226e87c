#pragma once

// Products by cuBLASLt: f32 in full f32 (no TF32), f16 and bf16 summed in f32, f64.

#include <thalweg/device/device.h>
#include <thalweg/tensor/dtype.h>

#include "kernels/cuda/device/walk.h"

namespace thalweg::cuda {

/// Why cuBLASLt cannot make the product; null if it can.
const char* refuse_product(Device device, DType dtype, const ProductArgs& args);

/// Makes a product; false if it is refused, as it may be for other addresses than before.
bool run_product(Device device, DType dtype, const ProductArgs& args);

}  // namespace thalweg::cuda
