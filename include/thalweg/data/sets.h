#pragma once

// Data sets to begin with. Images are kept as u8 and become f32 in [0, 1] when they are gathered;
// labels are i64. Fields are "data" and "label".

#include <cstdint>
#include <string>

#include <thalweg/data/dataset.h>

namespace thalweg::data {

struct ImageSetOptions {
  Split split = Split::train;
  std::string folder = {};  // where its files are; "": see the set
  bool flat = true;         // samples of shape [784]; else [1, 28, 28]
};

/// 60,000 (test: 10,000) pictures of clothes of 28 x 28 pixels in 10 classes; Xiao et al.,
/// "Fashion-MNIST", 2017. Looked for in $THALWEG_DATA, $THALWEG_DATA/fashion-mnist and where
/// Debian's package dataset-fashion-mnist puts it. Throws Error{unavailable}, saying where it
/// looked and how to get it, when it is not there.
THALWEG_API Dataset fashion_mnist(ImageSetOptions options = {});

/// The files of the same names and form with handwritten digits; LeCun et al. 1998. Looked for in
/// $THALWEG_DATA/mnist unless a folder is named.
THALWEG_API Dataset mnist(ImageSetOptions options = {});

struct DrawnDigitsOptions {
  Split split = Split::train;
  int64_t samples = 0;  // 0: 60,000, test 10,000
  uint64_t seed = 0;
  bool flat = true;  // as above
};

/// Digits 0 to 9 drawn by a pen that shakes: strokes, slant, size, place, width and ink differ from
/// sample to sample. Sample i of a split depends on the seed only, not on how many there are.
THALWEG_API Dataset drawn_digits(DrawnDigitsOptions options = {});

struct SpiralsOptions {
  int64_t samples = 1000;
  int64_t classes = 2;  // arms, one after the other in equal shares
  double turns = 1;     // of each arm about the origin
  double noise = 0.1;   // standard deviation of the angle, in radians
  uint64_t seed = 0;
};

/// Points of the plane, [2] in [-1, 1], on spiral arms that no straight line parts.
THALWEG_API Dataset spirals(SpiralsOptions options = {});

}  // namespace thalweg::data
