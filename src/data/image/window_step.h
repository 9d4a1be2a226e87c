#pragma once

#include <string>

#include <thalweg/data/image_transforms.h>

#include "data/image/pixels.h"
#include "data/image/resample.h"

namespace thalweg::data {

/// What a step makes of a picture: a part of it, scaled to [inner_height, inner_width], put at
/// (top, left) of a new picture that is `fill` elsewhere.
struct Window {
  PixelBox part;
  int64_t height = 0;
  int64_t width = 0;
  int64_t inner_height = 0;
  int64_t inner_width = 0;
  int64_t top = 0;
  int64_t left = 0;
  Interpolation interpolation = Interpolation::linear;
  double fill = 0;
  bool mirrored = false;
};

/// The part as it is.
Window whole_window(const PixelBox& part);

/// A step that takes a part of a picture and perhaps scales or mirrors it. Those can be left to who
/// decodes the picture.
class WindowStep : public TransformStep {
 public:
  virtual const char* operation() const = 0;
  /// For a picture of this size. Throws Error{invalid} if it is too small.
  virtual Window window(int64_t height, int64_t width, Philox& random) const = 0;

  Field output(const Field& input) const override;
  Tensor apply(const Tensor& values, const Request& request, uint64_t stream) const override;
};

}  // namespace thalweg::data
