#pragma once

// Steps that change a field of every sample, a batch at a time.

#include <functional>
#include <memory>
#include <vector>

#include <thalweg/data/sample_source.h>

namespace thalweg::data {

/// One step. To make one of your own, derive and give it out as a Transform.
class THALWEG_API TransformStep {
 public:
  virtual ~TransformStep() = default;

  /// The field as the step leaves it. Throws Error{invalid} for one it cannot work on.
  virtual Field output(const Field& input) const = 0;

  /// `values` is row-major, [n, ...input.shape], and the step's own to change and return. Random
  /// steps draw by request.random(i, stream) only. Several threads may call it at once.
  virtual Tensor apply(const Tensor& values, const Request& request, uint64_t stream) const = 0;

  /// What the step does, if it is no more than a conversion of values: it can then be made part of
  /// the gather.
  virtual const Conversion* as_conversion() const { return nullptr; }
};

using Transform = std::shared_ptr<const TransformStep>;

/// Converts to `dtype` and multiplies by `scale`, such as 1 / 255.0.
THALWEG_API Transform cast(DType dtype, double scale = 1);

struct NormalizeOptions {
  std::vector<double> mean = {0};  // one entry, or one per index of the sample's first axis
  std::vector<double> std = {1};   // likewise; none may be 0
};
/// (value - mean) / std, in f32.
THALWEG_API Transform normalize(NormalizeOptions options);

/// Makes every sample 1-d.
THALWEG_API Transform flatten();

/// Integer label -> f32 vector of `classes` entries, 1 at the label and 0 elsewhere. A label that
/// is not in [0, classes) is an error with its sample.
THALWEG_API Transform one_hot(int64_t classes);

struct RandomFlipOptions {
  int64_t axis = -1;         // of the sample: -1 mirrors left and right, -2 top and bottom
  double probability = 0.5;  // of a flip, per sample
};
THALWEG_API Transform random_flip(RandomFlipOptions options = {});

struct RandomCropOptions {
  int64_t height = 0;   // of the result; 0: the input's
  int64_t width = 0;    // likewise
  int64_t padding = 0;  // rows and columns added on each side first
  double fill = 0;      // value of what is added
};
/// A window of the last two axes, its place drawn per sample.
THALWEG_API Transform random_crop(RandomCropOptions options);

/// Any function of one sample's values, given without the batch axis. It may change dtype and
/// shape, but in all samples alike: what it makes of zeros of `input` tells.
THALWEG_API Transform each(std::function<Tensor(const Tensor& sample, Philox& random)> function);

/// The steps one after the other.
THALWEG_API Transform compose(std::vector<Transform> steps);

}  // namespace thalweg::data
