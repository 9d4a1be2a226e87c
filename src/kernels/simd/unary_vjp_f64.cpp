#define THALWEG_SIMD_TYPE double
#define THALWEG_SIMD_MEMBER f64
#define THALWEG_SIMD_FILL fill_unary_vjp_f64
#include "kernels/simd/unary_vjp_rows-inl.h"
