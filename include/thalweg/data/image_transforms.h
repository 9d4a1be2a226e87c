#pragma once

// Steps for pictures: samples [channels, height, width] of u8 or f32, whose sizes may differ. When
// a picture's first step is one that takes a part of it, a MinibatchSource decodes no more than the
// part needs, a JPEG also at 1/2, 1/4 or 1/8 of its size if that is still enough.

#include <string>
#include <vector>

#include <thalweg/data/transforms.h>

namespace thalweg::data {

/// How values between pixels are found. When a picture gets smaller, linear and cubic (Catmull-Rom)
/// take all pixels into account, as Pillow does.
enum class Interpolation { nearest, linear, cubic };

struct CenterCropOptions {
  int64_t height = 0;  // of the part; not larger than the picture
  int64_t width = 0;
  double side = 0;  // instead: a square of this ratio, up to 1, of the shorter side
};
/// The middle of the picture.
THALWEG_API Transform center_crop(CenterCropOptions options);

struct RandomResizedCropOptions {
  int64_t height = 224;  // of the result
  int64_t width = 224;
  double min_area = 0.08;  // of the part, as a ratio of the picture's area
  double max_area = 1;
  double min_side = 0;  // instead of areas, if not 0: ratios of the side of a square of the part's
  double max_side = 1;  // area to the shorter side of the picture
  double min_aspect = 0.75;  // width / height of the part
  double max_aspect = 4.0 / 3;
  Interpolation interpolation = Interpolation::linear;
};
/// A part of random size, aspect and place, scaled to one size (Szegedy et al. 2015, with
/// torchvision's draws: area and logarithm of the aspect are uniform, ten tries, then the largest
/// part in the middle of an aspect that is allowed).
THALWEG_API Transform random_resized_crop(RandomResizedCropOptions options = {});

/// What becomes of a picture of another aspect: it is stretched, its sides are cut off, or it is
/// put in the middle of a larger one.
enum class ResizeMode { fill, crop, pad };

struct ResizeOptions {
  int64_t height = 0;  // of the result
  int64_t width = 0;
  ResizeMode mode = ResizeMode::fill;
  Interpolation interpolation = Interpolation::linear;
  double fill = 0;  // value of what is put around
};
/// All of the picture, or its middle, scaled to one size.
THALWEG_API Transform resize(ResizeOptions options);

}  // namespace thalweg::data
