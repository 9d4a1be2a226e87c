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
  bool flat = true;         // samples are vectors; else [channels, height, width]
};

/// 60,000 (test: 10,000) pictures of clothes of 28 x 28 pixels in 10 classes; Xiao et al.,
/// "Fashion-MNIST", 2017. Looked for in $THALWEG_DATA, $THALWEG_DATA/fashion-mnist and where
/// Debian's package dataset-fashion-mnist puts it. Throws Error{unavailable}, saying where it
/// looked and how to get it, when it is not there.
THALWEG_API Dataset fashion_mnist(ImageSetOptions options = {});

/// The files of the same names and form with handwritten digits; LeCun et al. 1998. Looked for in
/// $THALWEG_DATA/mnist unless a folder is named.
THALWEG_API Dataset mnist(ImageSetOptions options = {});

/// 50,000 (test: 10,000) colour pictures of 32 x 32 pixels in 10 classes: data_batch_1.bin to
/// data_batch_5.bin (test: test_batch.bin) of the binary version; Krizhevsky, "Learning multiple
/// layers of features from tiny images", 2009. Looked for in $THALWEG_DATA/cifar-10-batches-bin and
/// $THALWEG_DATA unless a folder is named. Throws Error{unavailable} when it is not there.
THALWEG_API Dataset cifar10(ImageSetOptions options = {});

struct DrawnShapesOptions {
  Split split = Split::train;
  int64_t samples = 0;  // 0: 50,000, test 10,000
  uint64_t seed = 0;
};

/// Colour pictures [3, 32, 32] of ten shapes, from disc to ell, in the form of cifar10: size,
/// place, turn, colours, shade and noise differ from sample to sample. Sample i of a split depends
/// on the seed only.
THALWEG_API Dataset drawn_shapes(DrawnShapesOptions options = {});

struct DrawnDigitsOptions {
  Split split = Split::train;
  int64_t samples = 0;  // 0: 60,000, test 10,000
  uint64_t seed = 0;
  bool flat = true;  // as above
};

/// Digits 0 to 9 drawn by a pen that shakes: strokes, slant, size, place, width and ink differ from
/// sample to sample. Sample i of a split depends on the seed only, not on how many there are.
THALWEG_API Dataset drawn_digits(DrawnDigitsOptions options = {});

struct DrawnTagsOptions {
  Split split = Split::train;
  int64_t samples = 5000;
  int64_t words = 100;   // at least 10
  int64_t longest = 20;  // of a sentence; the shortest has a quarter of that
  uint64_t seed = 0;
};

/// Sentences of a made-up language: words i64 [longest], 1 to `words` and 0 behind the sentence's
/// end, and a tag for each, i64 [longest], -1 there. Words 1 to 4 are openers, whose tag is their
/// number - 1, and 5 to 7 closers, of tag 4. Every other word w has one of three meanings, 5 + (w +
/// k) mod 3, where k is the number of the last opener before it, 0 without one; and tag 8 instead
/// if the next word is a closer. So a word's tag needs what comes before it, however far, and what
/// comes after it. Sentence i of a split depends on the seed, `words` and `longest` only.
THALWEG_API Dataset drawn_tags(DrawnTagsOptions options = {});

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
