#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "data/image/window_step.h"

namespace thalweg::data {
namespace {

PixelBox centered(int64_t height, int64_t width, int64_t in_height, int64_t in_width) {
  return {(in_height - height) / 2, (in_width - width) / 2, height, width};
}

int64_t rounded(double value) { return std::max<int64_t>(1, std::llround(value)); }

void check_size(const char* operation, int64_t height, int64_t width) {
  if (height < 1 || width < 1)
    fail_invalid("{}: height {} and width {} must be positive", operation, height, width);
}

void check_range(const char* operation, const char* what, double low, double high, double most) {
  if (!(low > 0 && low <= high && high <= most)) {
    fail_invalid("{}: {} from {} to {} is no range above 0{}", operation, what, low, high,
                 most < 1e9 ? fmt::format(" and up to {}", most) : "");
  }
}

class CenterCrop final : public WindowStep {
 public:
  explicit CenterCrop(CenterCropOptions options) : options_(options) {
    if (options.side != 0)
      check_range("center_crop", "side", options.side, options.side, 1);
    else
      check_size("center_crop", options.height, options.width);
  }

  const char* operation() const override { return "center_crop"; }

  Window window(int64_t height, int64_t width, Philox&) const override {
    int64_t new_height = options_.height;
    int64_t new_width = options_.width;
    if (options_.side != 0) {
      new_height = new_width =
          rounded(options_.side * static_cast<double>(std::min(height, width)));
    }
    if (new_height > height || new_width > width) {
      fail_invalid("center_crop: a part of {} x {} is larger than the picture of {} x {}",
                   new_width, new_height, width, height);
    }
    return whole_window(centered(new_height, new_width, height, width));
  }

 private:
  CenterCropOptions options_;
};

class RandomResizedCrop final : public WindowStep {
 public:
  explicit RandomResizedCrop(RandomResizedCropOptions options) : options_(options) {
    check_size(operation(), options.height, options.width);
    check_range(operation(), "area", options.min_area, options.max_area, 1);
    check_range(operation(), "aspect", options.min_aspect, options.max_aspect, 1e9);
    if (options.min_side != 0)
      check_range(operation(), "side", options.min_side, options.max_side, 1);
  }

  const char* operation() const override { return "random_resized_crop"; }

  Window window(int64_t height, int64_t width, Philox& random) const override {
    Window window = whole_window(draw(height, width, random));
    window.height = window.inner_height = options_.height;
    window.width = window.inner_width = options_.width;
    window.interpolation = options_.interpolation;
    return window;
  }

 private:
  PixelBox draw(int64_t height, int64_t width, Philox& random) const {
    constexpr int kTries = 10;
    for (int i = 0; i < kTries; ++i) {
      const double area =
          draw_area(static_cast<double>(height), static_cast<double>(width), random);
      const double aspect =
          std::exp(uniform(std::log(options_.min_aspect), std::log(options_.max_aspect), random));
      const int64_t new_width = rounded(std::sqrt(area * aspect));
      const int64_t new_height = rounded(std::sqrt(area / aspect));
      if (new_width > width || new_height > height) continue;
      const int64_t top = random.bounded(static_cast<uint32_t>(height - new_height + 1));
      const int64_t left = random.bounded(static_cast<uint32_t>(width - new_width + 1));
      return {top, left, new_height, new_width};
    }
    const double aspect = static_cast<double>(width) / static_cast<double>(height);
    int64_t new_width = width;
    int64_t new_height = height;
    if (aspect < options_.min_aspect)
      new_height = std::min(height, rounded(static_cast<double>(width) / options_.min_aspect));
    if (aspect > options_.max_aspect)
      new_width = std::min(width, rounded(static_cast<double>(height) * options_.max_aspect));
    return centered(new_height, new_width, height, width);
  }

  double draw_area(double height, double width, Philox& random) const {
    if (options_.min_side == 0)
      return height * width * uniform(options_.min_area, options_.max_area, random);
    const double side =
        uniform(options_.min_side, options_.max_side, random) * std::min(height, width);
    return side * side;
  }

  static double uniform(double low, double high, Philox& random) {
    return low + (high - low) * random.uniform64();
  }

  RandomResizedCropOptions options_;
};

class Resize final : public WindowStep {
 public:
  explicit Resize(ResizeOptions options) : options_(options) {
    check_size("resize", options.height, options.width);
  }

  const char* operation() const override { return "resize"; }

  Window window(int64_t height, int64_t width, Philox&) const override {
    Window window = whole_window({0, 0, height, width});
    window.height = window.inner_height = options_.height;
    window.width = window.inner_width = options_.width;
    window.interpolation = options_.interpolation;
    window.fill = options_.fill;
    const double by_height = static_cast<double>(options_.height) / static_cast<double>(height);
    const double by_width = static_cast<double>(options_.width) / static_cast<double>(width);
    if (options_.mode == ResizeMode::crop) {
      const double by = std::max(by_height, by_width);
      window.part = centered(std::min(height, rounded(static_cast<double>(options_.height) / by)),
                             std::min(width, rounded(static_cast<double>(options_.width) / by)),
                             height, width);
    }
    if (options_.mode == ResizeMode::pad) {
      const double by = std::min(by_height, by_width);
      window.inner_height = std::min(options_.height, rounded(static_cast<double>(height) * by));
      window.inner_width = std::min(options_.width, rounded(static_cast<double>(width) * by));
      window.top = (options_.height - window.inner_height) / 2;
      window.left = (options_.width - window.inner_width) / 2;
    }
    return window;
  }

 private:
  ResizeOptions options_;
};

}  // namespace

Transform center_crop(CenterCropOptions options) { return std::make_shared<CenterCrop>(options); }

Transform random_resized_crop(RandomResizedCropOptions options) {
  return std::make_shared<RandomResizedCrop>(options);
}

Transform resize(ResizeOptions options) { return std::make_shared<Resize>(options); }

}  // namespace thalweg::data
