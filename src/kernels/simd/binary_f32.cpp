#define THALWEG_SIMD_TYPE float
#define THALWEG_SIMD_MEMBER f32
#define THALWEG_SIMD_FILL fill_binary_f32
#include "kernels/simd/binary_rows-inl.h"
