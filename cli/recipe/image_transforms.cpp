// The kinds of transforms of pictures.

#include <thalweg/data/image_transforms.h>

#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

data::Interpolation interpolation_of(const std::string& name) {
  if (name == "nearest") return data::Interpolation::nearest;
  if (name == "lanczos") return data::Interpolation::lanczos;
  return name == "cubic" ? data::Interpolation::cubic : data::Interpolation::linear;
}

Field interpolation_field(std::string* target) {
  return one_of("interpolation", target, "how values between pixels are found",
                {"nearest", "linear", "cubic", "lanczos"});
}

struct Resize : TransformPart {
  int64_t height = 0;
  int64_t width = 0;
  std::string mode = "fill";
  std::string interpolation = "linear";
  double fill = 0;

  Fields fields() override {
    return {{"height", &height, "of the result", 1},
            {"width", &width, "of the result", 1},
            one_of("mode", &mode, "stretch the picture, cut its sides off, or put it in the middle",
                   {"fill", "crop", "pad"}),
            interpolation_field(&interpolation),
            {"fill", &fill, "value of what is put around"}};
  }
  data::Transform make() const override {
    const data::ResizeMode how = mode == "crop"  ? data::ResizeMode::crop
                                 : mode == "pad" ? data::ResizeMode::pad
                                                 : data::ResizeMode::fill;
    return data::resize({height, width, how, interpolation_of(interpolation), fill});
  }
};

struct CenterCrop : TransformPart {
  int64_t height = 0;
  int64_t width = 0;
  double side = 0;

  Fields fields() override {
    return {{"height", &height, "of the part", 0},
            {"width", &width, "of the part", 0},
            {"side", &side, "instead: a square of this ratio of the shorter side", 0, 1}};
  }
  data::Transform make() const override { return data::center_crop({height, width, side}); }
  data::Transform views() const override { return data::ten_views({height, width}); }
};

struct RandomResizedCrop : TransformPart {
  data::RandomResizedCropOptions options = {};
  std::string interpolation = "linear";

  Fields fields() override {
    return {{"height", &options.height, "of the result", 1},
            {"width", &options.width, "of the result", 1},
            {"min_area", &options.min_area, "of the part, as a ratio of the picture's", 0, 1},
            {"max_area", &options.max_area, "likewise", 0, 1},
            {"min_side", &options.min_side,
             "instead of areas: ratios of the part's side to the picture's shorter one; 0: areas",
             0, 1},
            {"max_side", &options.max_side, "likewise", 0, 1},
            {"min_aspect", &options.min_aspect, "width / height of the part", DBL_MIN},
            {"max_aspect", &options.max_aspect, "likewise", DBL_MIN},
            interpolation_field(&interpolation)};
  }
  data::Transform make() const override {
    data::RandomResizedCropOptions given = options;
    given.interpolation = interpolation_of(interpolation);
    return data::random_resized_crop(given);
  }
  bool random() const override { return true; }
};

struct RandomRotate : TransformPart {
  data::RandomRotateOptions options = {};

  Fields fields() override {
    return {{"degrees", &options.degrees, "angles are from -degrees to degrees", 0, 180},
            {"fill", &options.fill, "value of what comes from outside of the picture"}};
  }
  data::Transform make() const override { return data::random_rotate(options); }
  bool random() const override { return true; }
};

struct RandomColour : TransformPart {
  data::RandomColourOptions options = {};

  Fields fields() override {
    return {{"brightness", &options.brightness, "factors are from 1 - this to 1 + this", 0, 1},
            {"contrast", &options.contrast, "likewise", 0, 1},
            {"saturation", &options.saturation, "likewise", 0, 1},
            {"max", &options.max, "the largest value of a pixel", DBL_MIN}};
  }
  data::Transform make() const override { return data::random_colour(options); }
  bool random() const override { return true; }
};

struct RandomLighting : TransformPart {
  data::RandomLightingOptions options = {};
  std::string file;

  Fields fields() override {
    return {
        {"std", &options.std, "of the amounts that are drawn", 0},
        {"max", &options.max, "the largest value of a pixel", DBL_MIN},
        {"values", &options.values, "eigenvalues of the pixels' covariance, for pixels in [0, 1]"},
        {"vectors", &options.vectors, "eigenvectors, those of a channel together"},
        {"file", &file,
         "with both, for pixels up to 255: OpenCV's XML as CNTK's; empty: as above"}};
  }
  data::Transform make() const override {
    if (file.empty()) return data::random_lighting(options);
    data::RandomLightingOptions read = data::lighting_from_file(file, options.std);
    read.max = options.max;
    return data::random_lighting(std::move(read));
  }
  bool random() const override { return true; }
};

struct RandomCutout : TransformPart {
  data::RandomCutoutOptions options = {};

  Fields fields() override {
    return {{"height", &options.height, "of the rectangle", 1},
            {"width", &options.width, "of the rectangle", 1},
            {"count", &options.count, "of rectangles", 0},
            {"fill", &options.fill, "value of what is cut out"}};
  }
  data::Transform make() const override { return data::random_cutout(options); }
  bool random() const override { return true; }
};

struct MeanFile : TransformPart {
  std::string path;

  Fields fields() override { return {{"path", &path, "the file, OpenCV's XML as CNTK wrote it"}}; }
  data::Transform make() const override { return data::subtract_mean_file(path); }
};

constexpr Kind kKinds[] = {
    {"resize", "Pictures of one size.", make_part<Resize>},
    {"center_crop", "The middle of the picture.", make_part<CenterCrop>},
    {"random_resized_crop", "A part of each training picture, scaled to one size.",
     make_part<RandomResizedCrop>},
    {"random_rotate", "Turns training pictures about their middle.", make_part<RandomRotate>},
    {"random_colour", "Changes brightness, contrast and saturation of training pictures.",
     make_part<RandomColour>},
    {"random_lighting",
     "Adds a colour along the pixels' principal components to training pictures.",
     make_part<RandomLighting>},
    {"random_cutout", "Cuts rectangles out of training pictures.", make_part<RandomCutout>},
    {"mean_file", "Takes a mean picture away.", make_part<MeanFile>},
};

}  // namespace

std::span<const Kind> image_transform_kinds() { return kKinds; }

}  // namespace thalweg::cli
