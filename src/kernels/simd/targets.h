#pragma once

// The instruction sets that our SIMD kernels are compiled for; to be included before any header of
// Highway. AVX-512, AVX2 and, as the least, SSE4: on an older x86 no kernel of this folder is
// registered and the reference runs. Other processors get what Highway chooses for them.

#if defined(__x86_64__) || defined(_M_X64)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Sanitized SIMD code takes minutes to compile: there, one of the targets must do.
#define HWY_BASELINE_TARGETS HWY_AVX2
#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_AVX3_DL)
#else
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#endif

namespace thalweg::simd {

/// False on a processor that is older than the least of the targets above.
bool is_supported();
/// Fills all tables of this folder with the loops of the best target that the processor has; again
/// when tests have named another one.
void choose_target();

}  // namespace thalweg::simd
