#pragma once

#include <span>

#include <thalweg/base/philox.h>

namespace thalweg::data {

/// x to the right and y down; a digit fills about [0.2, 0.8] x [0.05, 0.95] of the unit square.
struct Point {
  float x;
  float y;
};

/// One movement of the pen: through all points, as a smooth curve or from corner to corner.
struct Stroke {
  bool is_smooth;
  std::span<const Point> points;
};

/// The strokes of one of the ways to write a digit, chosen by `random`.
std::span<const Stroke> strokes_of_digit(int digit, Philox& random);

}  // namespace thalweg::data
