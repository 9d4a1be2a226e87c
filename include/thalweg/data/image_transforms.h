#pragma once

// Steps for pictures: samples [channels, height, width] of u8 or f32, whose sizes may differ. When
// a picture's first step is one that takes a part of it, a MinibatchSource decodes no more than the
// part needs, a JPEG also at 1/2, 1/4 or 1/8 of its size if that is still enough.

#include <string>
#include <vector>

#include <thalweg/data/transforms.h>

namespace thalweg::data {

/// How values between pixels are found. When a picture gets smaller, linear, cubic (Catmull-Rom)
/// and lanczos (of three lobes) take all pixels into account, as Pillow does.
enum class Interpolation { nearest, linear, cubic, lanczos };

struct CenterCropOptions {
  int64_t height = 0;  // of the part; not larger than the picture
  int64_t width = 0;
  double side = 0;  // instead: a square of this ratio, up to 1, of the shorter side
};
/// The middle of the picture.
THALWEG_API Transform center_crop(CenterCropOptions options);

struct TenViewsOptions {
  int64_t height = 0;  // of a view; not larger than the picture
  int64_t width = 0;
};
/// The four corners of the picture - left before right, above before below - and its middle, then
/// the same mirrored: [10, channels, height, width] (Krizhevsky et al. 2012; CNTK's MultiView10).
/// The mean of a net's outputs for them is better than its output for one.
THALWEG_API Transform ten_views(TenViewsOptions options);

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

struct RandomRotateOptions {
  double degrees = 15;  // the angle is uniform in [-degrees, degrees], counterclockwise
  Interpolation interpolation = Interpolation::linear;  // nearest or linear
  double fill = 0;  // value of what comes from outside of the picture
};
/// The picture turned about its middle, its size as before.
THALWEG_API Transform random_rotate(RandomRotateOptions options = {});

struct RandomColourOptions {
  double brightness = 0;  // radii, from 0 to 1: factors are uniform in [1 - radius, 1 + radius]
  double contrast = 0;
  double saturation = 0;
  double max = 255;  // values are kept in [0, max]: 1 for f32 pictures of that range
};
/// In this order: values times a factor; their distance from the picture's mean grey times a
/// factor; their distance from the pixel's grey times a factor. Grey is 0.299 R + 0.587 G + 0.114
/// B. Pictures are RGB, or have one channel, whose saturation is left.
THALWEG_API Transform random_colour(RandomColourOptions options);

struct RandomLightingOptions {
  double std = 0.1;  // of the three factors, normal about 0
  double max = 255;  // as above; the eigenvalues are for values in [0, 1]
  /// Of the covariance of the pixels' channels; those of ImageNet by default.
  std::vector<double> values = {0.2175, 0.0188, 0.0045};
  std::vector<double> vectors = {-0.5675, 0.7192,  0.4009,  -0.5808, -0.0045,
                                 -0.8140, -0.5836, -0.6948, 0.4203};  // [channel, value], row-major
};
/// The same colour added to all pixels: vectors * (values * normal numbers); Krizhevsky et al.
/// 2012.
THALWEG_API Transform random_lighting(RandomLightingOptions options = {});

/// What an OpenCV XML file as CNTK's Intensity transform takes says: matrices EigVal [n] and EigVec
/// [n, n], a row for each channel, for pictures from 0 to 255. Throws Error{io} for another file.
THALWEG_API RandomLightingOptions lighting_from_file(const std::string& path, double std = 0.1);

struct RandomCutoutOptions {
  int64_t height = 16;  // of the rectangle
  int64_t width = 16;
  int64_t count = 1;  // rectangles per picture
  double fill = 0;    // value of what is cut out
};
/// Rectangles around places drawn in the picture get one value; DeVries and Taylor 2017.
THALWEG_API Transform random_cutout(RandomCutoutOptions options = {});

/// Takes away the mean picture in an OpenCV XML file as CNTK's: MeanImg, pixel by pixel, with
/// Channel, Row and Col. The result is f32. Throws Error{io} for a file that lacks them, and
/// Error{invalid} for pictures of another size; channels in the file are in CNTK's order, BGR.
THALWEG_API Transform subtract_mean_file(const std::string& path);

}  // namespace thalweg::data
