#pragma once

// Rows of f16 and bf16 by way of f32: a block is converted, the f32 row runs on it, and the result
// is rounded once.

#include "ops/pointwise_loop.h"

namespace thalweg::simd {

/// Conversions between halves, as their bits, and f32; for the chosen target.
struct Converters {
  void (*f32_from_f16)(const uint16_t* from, float* to, int64_t n) = nullptr;
  void (*f16_from_f32)(const float* from, uint16_t* to, int64_t n) = nullptr;
  void (*f32_from_bf16)(const uint16_t* from, float* to, int64_t n) = nullptr;
  void (*bf16_from_f32)(const float* from, uint16_t* to, int64_t n) = nullptr;
};
void fill_converters(Converters& table);

/// The context of the rows below: what runs on the converted blocks.
struct HalfRow {
  PointwiseRowFn f32;
  size_t inputs;
  bool bool_output;
  const void* context;
  const Converters* convert;
};
void f16_row(const PointwiseRow& row);
void bf16_row(const PointwiseRow& row);

}  // namespace thalweg::simd
