#define THALWEG_SIMD_TYPE double
#define THALWEG_SIMD_MEMBER f64
#define THALWEG_SIMD_FILL fill_binary_f64
#include "kernels/simd/binary_rows-inl.h"
