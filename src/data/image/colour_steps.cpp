#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "data/image/picture_step.h"

namespace thalweg::data {
namespace {

constexpr float kGrey[] = {0.299f, 0.587f, 0.114f};

class RandomColour final : public PictureStep {
 public:
  explicit RandomColour(RandomColourOptions options) : options_(options) {
    for (double radius : {options.brightness, options.contrast, options.saturation})
      if (!(radius >= 0 && radius <= 1))
        fail_invalid("random_colour: radius {} is not between 0 and 1", radius);
    if (!(options.max > 0)) fail_invalid("random_colour: max {} is not positive", options.max);
  }

  const char* operation() const override { return "random_colour"; }
  void check_channels(int64_t channels) const override {
    if (channels != 1 && channels != 3)
      fail_invalid("random_colour: pictures have 1 or 3 channels, not {}", channels);
  }

  // All three are drawn, whatever the radii: one of them does not move the draws of the others.
  void change(const Picture& picture, Philox& random) const override {
    const float brightness = factor(options_.brightness, random);
    const float contrast = factor(options_.contrast, random);
    const float saturation = factor(options_.saturation, random);
    const auto n = static_cast<size_t>(picture.channels * picture.plane());
    if (options_.brightness > 0) blend(picture.values, n, 0, brightness);
    if (options_.contrast > 0) blend(picture.values, n, mean_grey(picture), contrast);
    if (options_.saturation > 0 && picture.channels == 3) saturate(picture, saturation);
  }

 private:
  static float factor(double radius, Philox& random) {
    return static_cast<float>(1 + radius * (2 * random.uniform64() - 1));
  }

  float clamped(float value) const {
    return std::clamp(value, 0.0f, static_cast<float>(options_.max));
  }

  void blend(float* values, size_t n, float from, float by) const {
    for (size_t i = 0; i < n; ++i) values[i] = clamped(from + (values[i] - from) * by);
  }

  static float grey_at(const Picture& picture, int64_t i) {
    if (picture.channels == 1) return picture.values[i];
    float grey = 0;
    for (int64_t c = 0; c < 3; ++c) grey += kGrey[c] * picture.values[c * picture.plane() + i];
    return grey;
  }

  static float mean_grey(const Picture& picture) {
    double sum = 0;
    for (int64_t i = 0; i < picture.plane(); ++i) sum += grey_at(picture, i);
    return static_cast<float>(sum / static_cast<double>(std::max<int64_t>(1, picture.plane())));
  }

  void saturate(const Picture& picture, float by) const {
    for (int64_t i = 0; i < picture.plane(); ++i) {
      const float grey = grey_at(picture, i);
      for (int64_t c = 0; c < 3; ++c) {
        float& value = picture.values[c * picture.plane() + i];
        value = clamped(grey + (value - grey) * by);
      }
    }
  }

  RandomColourOptions options_;
};

class RandomLighting final : public PictureStep {
 public:
  explicit RandomLighting(RandomLightingOptions options) : options_(std::move(options)) {
    if (options_.values.empty() || options_.vectors.size() % options_.values.size() != 0) {
      fail_invalid("random_lighting: {} eigenvalues and {} entries of eigenvectors do not fit",
                   options_.values.size(), options_.vectors.size());
    }
  }

  const char* operation() const override { return "random_lighting"; }
  void check_channels(int64_t channels) const override {
    const size_t fit = options_.vectors.size() / options_.values.size();
    if (static_cast<size_t>(channels) != fit) {
      fail_invalid("random_lighting: eigenvectors are for {} channels, pictures have {}", fit,
                   channels);
    }
  }

  void change(const Picture& picture, Philox& random) const override {
    const size_t n = options_.values.size();
    std::vector<double> amounts;
    for (double value : options_.values) amounts.push_back(options_.std * random.normal() * value);
    const auto max = static_cast<float>(options_.max);
    for (int64_t c = 0; c < picture.channels; ++c) {
      double shift = 0;
      for (size_t k = 0; k < n; ++k)
        shift += options_.vectors[static_cast<size_t>(c) * n + k] * amounts[k];
      float* values = picture.values + c * picture.plane();
      for (int64_t i = 0; i < picture.plane(); ++i)
        values[i] = std::clamp(values[i] + static_cast<float>(shift) * max, 0.0f, max);
    }
  }

 private:
  RandomLightingOptions options_;
};

class RandomCutout final : public PictureStep {
 public:
  explicit RandomCutout(RandomCutoutOptions options) : options_(options) {
    if (options.height < 1 || options.width < 1 || options.count < 0) {
      fail_invalid("random_cutout: height {} and width {} must be positive, count {} not negative",
                   options.height, options.width, options.count);
    }
  }

  const char* operation() const override { return "random_cutout"; }

  void change(const Picture& picture, Philox& random) const override {
    if (picture.plane() == 0) return;
    for (int64_t i = 0; i < options_.count; ++i) {
      const int64_t y = random.bounded(static_cast<uint32_t>(picture.height)) - options_.height / 2;
      const int64_t x = random.bounded(static_cast<uint32_t>(picture.width)) - options_.width / 2;
      const int64_t left = std::max<int64_t>(0, x);
      const int64_t right = std::min(picture.width, x + options_.width);
      for (int64_t c = 0; c < picture.channels; ++c)
        for (int64_t row = std::max<int64_t>(0, y);
             row < std::min(picture.height, y + options_.height); ++row)
          std::fill(picture.values + (c * picture.height + row) * picture.width + left,
                    picture.values + (c * picture.height + row) * picture.width + right,
                    static_cast<float>(options_.fill));
    }
  }

 private:
  RandomCutoutOptions options_;
};

class RandomRotate final : public PictureStep {
 public:
  explicit RandomRotate(RandomRotateOptions options) : options_(options) {
    if (!(options.degrees >= 0 && options.degrees <= 180))
      fail_invalid("random_rotate: {} degrees are not between 0 and 180", options.degrees);
    if (options.interpolation > Interpolation::linear)
      fail_invalid("random_rotate: the interpolation is nearest or linear");
  }

  const char* operation() const override { return "random_rotate"; }

  void change(const Picture& picture, Philox& random) const override {
    const double angle = options_.degrees * (2 * random.uniform64() - 1) * M_PI / 180;
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    const std::vector<float> from(picture.values,
                                  picture.values + picture.channels * picture.plane());
    const double middle_y = static_cast<double>(picture.height) / 2;
    const double middle_x = static_cast<double>(picture.width) / 2;
    for (int64_t y = 0; y < picture.height; ++y) {
      for (int64_t x = 0; x < picture.width; ++x) {
        const double dy = static_cast<double>(y) + 0.5 - middle_y;
        const double dx = static_cast<double>(x) + 0.5 - middle_x;
        const double from_y = middle_y + sine * dx + cosine * dy - 0.5;
        const double from_x = middle_x + cosine * dx - sine * dy - 0.5;
        for (int64_t c = 0; c < picture.channels; ++c)
          picture.values[(c * picture.height + y) * picture.width + x] =
              value_at(picture, from.data() + c * picture.plane(), from_y, from_x);
      }
    }
  }

 private:
  float pixel(const Picture& picture, const float* plane, int64_t y, int64_t x) const {
    const bool is_inside = y >= 0 && y < picture.height && x >= 0 && x < picture.width;
    return is_inside ? plane[y * picture.width + x] : static_cast<float>(options_.fill);
  }

  float value_at(const Picture& picture, const float* plane, double y, double x) const {
    if (options_.interpolation == Interpolation::nearest)
      return pixel(picture, plane, std::lround(y), std::lround(x));
    const auto y0 = static_cast<int64_t>(std::floor(y));
    const auto x0 = static_cast<int64_t>(std::floor(x));
    const auto fy = static_cast<float>(y - static_cast<double>(y0));
    const auto fx = static_cast<float>(x - static_cast<double>(x0));
    const float top =
        pixel(picture, plane, y0, x0) * (1 - fx) + pixel(picture, plane, y0, x0 + 1) * fx;
    const float bottom =
        pixel(picture, plane, y0 + 1, x0) * (1 - fx) + pixel(picture, plane, y0 + 1, x0 + 1) * fx;
    return top * (1 - fy) + bottom * fy;
  }

  RandomRotateOptions options_;
};

}  // namespace

Transform random_colour(RandomColourOptions options) {
  return std::make_shared<RandomColour>(options);
}

Transform random_lighting(RandomLightingOptions options) {
  return std::make_shared<RandomLighting>(std::move(options));
}

Transform random_cutout(RandomCutoutOptions options) {
  return std::make_shared<RandomCutout>(options);
}

Transform random_rotate(RandomRotateOptions options) {
  return std::make_shared<RandomRotate>(options);
}

}  // namespace thalweg::data
