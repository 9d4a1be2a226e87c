#define THALWEG_SIMD_TYPE double
#define THALWEG_SIMD_MEMBER f64
#define THALWEG_SIMD_FILL fill_unary_f64
#include "kernels/simd/unary_rows-inl.h"
