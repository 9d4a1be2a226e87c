#pragma once

#include <cstdint>

namespace thalweg::conv::gray {

/// One row of results: out[o * out_step + i] = start[o] + the sum over taps t of
/// weights[t * outputs + o] * row[offsets[t] + i], for all o and i < width. Reads and writes whole
/// groups of kGroup pixels.
struct RowProduct {
  const float* row;
  const int64_t* offsets;
  int64_t taps, outputs, width;
  const float* weights;
  const float* start;  // null: 0
  float* out;
  int64_t out_step;
};
inline constexpr int64_t kGroup = 32;

/// sums[(o * taps + t) * kLanes + l] += the part of lane l of the sum over rows r and i < width of
/// gradients[(r * outputs + o) * gradient_step + i] * image[rows[r] + offsets[t] + i].
struct TapSums {
  const float* image;
  const int64_t* rows;
  int64_t row_count;
  const int64_t* offsets;
  int64_t taps, outputs, width;
  const float* gradients;
  int64_t gradient_step;
  float* sums;
};
inline constexpr int64_t kLanes = 16;

void row_product(const RowProduct& product);
void tap_sums(const TapSums& sums);

}  // namespace thalweg::conv::gray
