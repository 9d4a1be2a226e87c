#pragma once

#include <cstddef>
#include <cstdint>

namespace thalweg::data {

// Loops of resampling, in the widest SIMD the machine has.

/// out[i] = sum over k of weights[k] * rows[k][i], for n values.
void blend_rows(const uint8_t* const* rows, const float* weights, size_t taps, float* out,
                size_t n);
void blend_rows(const float* const* rows, const float* weights, size_t taps, float* out, size_t n);

/// For each of n pixels of three values: the sum over k of weights[i * taps + k] times the pixel
/// first[i] + k of `in`. Reads and writes one value more than there are.
void blend_pixels3(const float* in, const int32_t* first, const float* weights, size_t taps,
                   float* out, size_t n);

/// Rounds n values to the nearest whole number in [0, 255], halves to even.
void round_to_u8(const float* in, uint8_t* out, size_t n);

/// Takes n pixels of three values apart.
void split_pixels3(const uint8_t* in, uint8_t* a, uint8_t* b, uint8_t* c, size_t n);

}  // namespace thalweg::data
