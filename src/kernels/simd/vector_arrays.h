#pragma once

// For sources that hold vectors in arrays, in place of targets.h and likewise before any header of
// Highway: targets with vectors of unknown size have no such arrays.

#if !defined(__x86_64__)  // where targets.h may disable others
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

#include "kernels/simd/targets.h"

/// Before a loop over such an array: without it, -O2 leaves the loop as it is, and the array in
/// memory.
#define THALWEG_UNROLL _Pragma("GCC unroll 8")
