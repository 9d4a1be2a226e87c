#pragma once

#include <cstdint>

#include <thalweg/data/image_transforms.h>

#include "data/image/pixels.h"

namespace thalweg::data {

/// A part of a picture, in pixels that need not be whole, and what it becomes.
struct Resampling {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
  int64_t out_height = 0;
  int64_t out_width = 0;
  Interpolation interpolation = Interpolation::linear;
  bool mirrored = false;  // left and right, afterwards
};

/// The part as u8 planes [channels, out_height, out_width] at `out`, whose rows are `row_stride`
/// and whose planes `plane_stride` values apart. Nothing outside of the part has an influence.
struct PlanesOut {
  void* data;
  int64_t row_stride;
  int64_t plane_stride;
};
void resample_pixels(const Pixels& in, const Resampling& part, bool reversed, const PlanesOut& out);

/// The same for a picture that is planes already, [planes, height, width] of u8 or f32.
struct PlanesIn {
  const void* data;
  DType dtype;
  int64_t planes;
  int64_t height;
  int64_t width;
};
void resample_planes(const PlanesIn& in, const Resampling& part, const PlanesOut& out);

}  // namespace thalweg::data
