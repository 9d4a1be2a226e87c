#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

struct Scale : TransformPart {
  double factor = 1.0 / 255;

  Fields fields() override { return {{"factor", &factor, "what every value is multiplied by"}}; }
  data::Transform make() const override { return data::cast(DType::f32, factor); }
};

struct Normalize : TransformPart {
  std::vector<double> mean = {0};
  std::vector<double> std = {1};

  Fields fields() override {
    return {{"mean", &mean, "taken away; one number, or one for each channel"},
            {"std", &std, "then divided by; likewise", DBL_MIN}};
  }
  data::Transform make() const override { return data::normalize({.mean = mean, .std = std}); }
};

struct Flatten : TransformPart {
  Fields fields() override { return {}; }
  data::Transform make() const override { return data::flatten(); }
};

struct RandomFlip : TransformPart {
  int64_t axis = -1;
  double probability = 0.5;

  Fields fields() override {
    return {{"axis", &axis, "of the sample: -1 mirrors left and right, -2 top and bottom", -8, 7},
            {"probability", &probability, "of a flip, per sample", 0, 1}};
  }
  data::Transform make() const override {
    return data::random_flip({.axis = axis, .probability = probability});
  }
  bool random() const override { return true; }
};

struct RandomCrop : TransformPart {
  int64_t height = 0;
  int64_t width = 0;
  int64_t padding = 0;
  double fill = 0;

  Fields fields() override {
    return {{"height", &height, "of the result; 0: as before", 0},
            {"width", &width, "of the result; 0: as before", 0},
            {"padding", &padding, "rows and columns added on each side first", 0},
            {"fill", &fill, "value of what is added"}};
  }
  data::Transform make() const override {
    return data::random_crop({.height = height, .width = width, .padding = padding, .fill = fill});
  }
  bool random() const override { return true; }
};

constexpr Kind kKinds[] = {
    {"scale", "Converts to f32 and multiplies.", make_part<Scale>},
    {"normalize", "(value - mean) / std.", make_part<Normalize>},
    {"flatten", "Makes every sample a vector.", make_part<Flatten>},
    {"random_flip", "Mirrors some training samples.", make_part<RandomFlip>},
    {"random_crop", "A window of each training sample, its place drawn.", make_part<RandomCrop>},
};

}  // namespace

std::span<const Kind> transform_kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> kinds(std::begin(kKinds), std::end(kKinds));
    const std::span<const Kind> pictures = image_transform_kinds();
    kinds.insert(kinds.end(), pictures.begin(), pictures.end());
    return kinds;
  }();
  return all;
}

}  // namespace thalweg::cli
