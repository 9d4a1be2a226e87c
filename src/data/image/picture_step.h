#pragma once

#include <thalweg/data/image_transforms.h>

namespace thalweg::data {

/// A picture in f32 that a step changes in place: values[(c * height + y) * width + x].
struct Picture {
  float* values;
  int64_t channels;
  int64_t height;
  int64_t width;

  int64_t plane() const { return height * width; }
};

/// A step that keeps a picture's size and dtype. Works in f32; u8 pictures are converted, and back
/// by rounding to the nearest value they can hold.
class PictureStep : public TransformStep {
 public:
  virtual const char* operation() const = 0;
  virtual void change(const Picture& picture, Philox& random) const = 0;
  /// Throws Error{invalid} for pictures of so many channels that it cannot work on.
  virtual void check_channels(int64_t /*channels*/) const {}

  Field output(const Field& input) const override;
  Tensor apply(const Tensor& values, const Request& request, uint64_t stream) const override;
};

}  // namespace thalweg::data
