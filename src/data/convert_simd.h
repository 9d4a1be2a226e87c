#pragma once

#include <cstddef>

namespace thalweg::data {

// The two loops through which most samples go, in the widest SIMD the machine has. As
// ConvertFunction; u8 values come out as if computed in f64 and rounded once, which makes
// scale = 1 / 255.0 the exact quotient.
void convert_u8_to_f32(const void* in, void* out, size_t n, double scale, double shift);
void convert_f32_to_f32(const void* in, void* out, size_t n, double scale, double shift);

}  // namespace thalweg::data
