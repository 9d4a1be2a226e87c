#include <thalweg/base/philox.h>

#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

constexpr std::string_view kFlatDoc = "samples are vectors of 784 numbers; else [1, 28, 28]";

struct DrawnDigits : DataSetPart {
  int64_t train_samples = 60000;
  int64_t test_samples = 10000;
  bool flat = true;

  Fields fields() override {
    return {{"train_samples", &train_samples, "how many images to train on", 1},
            {"test_samples", &test_samples, "how many images to test on", 1},
            {"flat", &flat, kFlatDoc}};
  }
  Splits load(uint64_t seed) const override {
    return {data::drawn_digits({.samples = train_samples, .seed = seed, .flat = flat}),
            data::drawn_digits(
                {.split = data::Split::test, .samples = test_samples, .seed = seed, .flat = flat})};
  }
};

struct FashionMnist : DataSetPart {
  std::string folder;
  bool flat = true;
  bool or_digits = true;

  Fields fields() override {
    return {{"folder", &folder,
             "where the four IDX files are; empty: THALWEG_DATA, then where Debian puts them"},
            {"flat", &flat, kFlatDoc},
            {"or_drawn_digits", &or_digits,
             "train on drawn_digits where this set cannot be had, and say so; else an error"}};
  }
  Splits load(uint64_t) const override {
    return {data::fashion_mnist({.folder = folder, .flat = flat}),
            data::fashion_mnist({.split = data::Split::test, .folder = folder, .flat = flat})};
  }
  std::optional<Chosen> fallback() const override {
    if (!or_digits) return std::nullopt;
    Chosen digits(*find_kind(data_set_kinds(), "drawn_digits"));
    static_cast<DrawnDigits&>(*digits.part).flat = flat;
    return digits;
  }
};

struct Mnist : DataSetPart {
  std::string folder;
  bool flat = true;

  Fields fields() override {
    return {{"folder", &folder, "where the four IDX files are; empty: THALWEG_DATA/mnist"},
            {"flat", &flat, kFlatDoc}};
  }
  Splits load(uint64_t) const override {
    return {data::mnist({.folder = folder, .flat = flat}),
            data::mnist({.split = data::Split::test, .folder = folder, .flat = flat})};
  }
};

struct Cifar10 : DataSetPart {
  std::string folder;
  bool flat = false;
  bool or_shapes = true;

  Fields fields() override {
    return {{"folder", &folder,
             "where the files of its binary version are; empty: THALWEG_DATA/cifar-10-batches-bin"},
            {"flat", &flat, "samples are vectors of 3072 numbers; else [3, 32, 32]"},
            {"or_drawn_shapes", &or_shapes,
             "train on drawn_shapes where this set cannot be had, and say so; else an error"}};
  }
  Splits load(uint64_t) const override {
    return {data::cifar10({.folder = folder, .flat = flat}),
            data::cifar10({.split = data::Split::test, .folder = folder, .flat = flat})};
  }
  std::optional<Chosen> fallback() const override {
    if (!or_shapes || flat) return std::nullopt;
    return Chosen(*find_kind(data_set_kinds(), "drawn_shapes"));
  }
};

struct DrawnShapes : DataSetPart {
  int64_t train_samples = 50000;
  int64_t test_samples = 10000;

  Fields fields() override {
    return {{"train_samples", &train_samples, "how many images to train on", 1},
            {"test_samples", &test_samples, "how many images to test on", 1}};
  }
  Splits load(uint64_t seed) const override {
    return {
        data::drawn_shapes({.samples = train_samples, .seed = seed}),
        data::drawn_shapes({.split = data::Split::test, .samples = test_samples, .seed = seed})};
  }
};

struct Spirals : DataSetPart {
  int64_t classes = 2;
  int64_t train_samples = 2000;
  int64_t test_samples = 1000;
  double turns = 1;
  double noise = 0.1;

  Fields fields() override {
    return {{"classes", &classes, "how many arms the spiral has", 1, 1000},
            {"train_samples", &train_samples, "how many points to train on", 1},
            {"test_samples", &test_samples, "how many points to test on", 1},
            {"turns", &turns, "of each arm about the origin", 0},
            {"noise", &noise, "standard deviation of a point's angle, in radians", 0}};
  }
  Splits load(uint64_t seed) const override {
    const auto points = [&](int64_t samples, uint64_t which) {
      return data::spirals({.samples = samples,
                            .classes = classes,
                            .turns = turns,
                            .noise = noise,
                            .seed = derive_seed(seed, which)});
    };
    return {points(train_samples, 0), points(test_samples, 1)};
  }
};

struct DrawnTags : DataSetPart {
  int64_t train_samples = 5000;
  int64_t test_samples = 1000;
  int64_t words = 100;
  int64_t longest = 20;

  Fields fields() override {
    return {{"train_samples", &train_samples, "how many sentences to train on", 1},
            {"test_samples", &test_samples, "how many sentences to test on", 1},
            {"words", &words, "of the language; indices are from 1 to this", 10},
            {"longest", &longest, "words of a sentence, at most", 1}};
  }
  Splits load(uint64_t seed) const override {
    const auto sentences = [&](int64_t samples, data::Split split) {
      return data::drawn_tags(
          {.split = split, .samples = samples, .words = words, .longest = longest, .seed = seed});
    };
    return {sentences(train_samples, data::Split::train),
            sentences(test_samples, data::Split::test)};
  }
};

constexpr Kind kKinds[] = {
    {"fashion_mnist", "Grey images of 10 kinds of clothes, 60,000 and 10,000 (Xiao et al. 2017).",
     make_part<FashionMnist>},
    {"mnist", "Grey images of handwritten digits, 60,000 and 10,000 (LeCun et al. 1998).",
     make_part<Mnist>},
    {"cifar10", "Colour images of 10 kinds of things, 50,000 and 10,000 (Krizhevsky 2009).",
     make_part<Cifar10>},
    {"drawn_shapes", "Colour images of ten shapes, of 32 x 32 pixels, that a generator draws.",
     make_part<DrawnShapes>},
    {"drawn_digits", "Grey images of digits that a generator draws with a shaking pen.",
     make_part<DrawnDigits>},
    {"spirals", "Points in the plane on the arms of a spiral.", make_part<Spirals>},
    {"drawn_tags", "Sentences of a made-up language and a tag for each word, which others decide.",
     make_part<DrawnTags>},
    {"text", "Windows of a text file, or of drawn sentences: bytes, and the byte after each.",
     make_text_set},
    {"files", "Files of any format: CTF, CSV, pictures, records and so on.", make_file_set},
};

}  // namespace

std::span<const Kind> data_set_kinds() { return kKinds; }

}  // namespace thalweg::cli
