#pragma once

// What this machine can do at most, as measured: with as many threads as kernels use, and seen by
// no tape, trace or profile.

#include <cstdint>

#include <thalweg/tensor/dtype.h>

namespace thalweg {

/// Operations a second: the best product of two matrices [size, size], repeated for `seconds`.
double measure_product_rate(DType dtype, int64_t size, double seconds);

/// Bytes a second, read and written: the best copy of so many bytes, repeated for `seconds`.
double measure_copy_rate(int64_t bytes, double seconds);

/// Of matrices [256, 256]; measured at the first call in the process for a dtype and a number of
/// threads, for some hundredths of a second.
double product_rate(DType dtype);

/// So too; of a copy of which the two sides have `bytes` together, but for the next larger of a few
/// sizes: in the core's caches, in the machine's, in memory.
double copy_rate(int64_t bytes);

}  // namespace thalweg
