#define THALWEG_SIMD_TYPE float
#define THALWEG_SIMD_MEMBER f32
#define THALWEG_SIMD_FILL fill_unary_vjp_f32
#include "kernels/simd/unary_vjp_rows-inl.h"
