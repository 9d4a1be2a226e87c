#pragma once

#include <thalweg/base/philox.h>
#include <thalweg/data/sets.h>

namespace thalweg::data {

/// u8 images [n, height, width] or [n, channels, height, width] and i64 labels [n] as a data set of
/// pixels / 255.
Dataset make_image_set(std::string name, const Tensor& images, const Tensor& labels, bool flat,
                       std::vector<std::string> class_names);

/// A data set that a generator draws.
struct Drawing {
  const char* name;
  Split split;
  int64_t samples;  ///< 0: train_samples or test_samples
  int64_t train_samples, test_samples;
  uint64_t seed, stream;
  Shape shape;  ///< of a sample's pixels
  double sample_ns;
  /// Draws a sample's pixels and returns its class.
  int64_t (*draw)(Philox random, uint8_t* pixels);
};

/// Sample i depends on the seed, the split and i only. Throws Error{invalid} for a negative number.
Dataset draw_image_set(const Drawing& drawing, bool flat, std::vector<std::string> class_names);

}  // namespace thalweg::data
