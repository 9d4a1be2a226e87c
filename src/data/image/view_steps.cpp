#include <cstring>

#include "base/fail.h"
#include "data/image/pixels.h"
#include "data/image/window_step.h"

namespace thalweg::data {
namespace {

constexpr int64_t kViews = 10;

class TenViews final : public TransformStep {
 public:
  explicit TenViews(TenViewsOptions options) : options_(options) {
    if (options.height < 1 || options.width < 1) {
      fail_invalid("ten_views: height {} and width {} must be positive", options.height,
                   options.width);
    }
  }

  Field output(const Field& input) const override {
    if (input.shape.size() != 3) {
      fail_invalid("ten_views: samples are [channels, height, width], not {}",
                   to_string(input.shape));
    }
    if (options_.height > input.shape[1] || options_.width > input.shape[2]) {
      fail_invalid("ten_views: a view of {} x {} is larger than the picture of {} x {}",
                   options_.width, options_.height, input.shape[2], input.shape[1]);
    }
    return {input.name, input.dtype, {kViews, input.shape[0], options_.height, options_.width}};
  }

  Tensor apply(const Tensor& values, const Request& request, uint64_t) const override {
    Shape sample = values.shape();
    sample.erase(0);
    Shape shape = output({"", values.dtype(), sample}).shape;
    shape.insert(0, static_cast<int64_t>(request.size()));
    Tensor result = Tensor::empty(shape, {.dtype = values.dtype()});
    const size_t item = item_size(values.dtype());
    const auto* from = values.impl()->as<const std::byte>();
    auto* to = result.impl()->as<std::byte>();
    const auto in_bytes = static_cast<size_t>(element_count(sample)) * item;
    const auto view_bytes =
        static_cast<size_t>(sample[0] * options_.height * options_.width) * item;
    for (size_t i = 0; i < request.size(); ++i, from += in_bytes) {
      for (int64_t view = 0; view < kViews; ++view, to += view_bytes)
        copy_view(from, sample, view, item, to);
    }
    return result;
  }

 private:
  void copy_view(const std::byte* from, const Shape& sample, int64_t view, size_t item,
                 std::byte* to) const {
    const int64_t below = sample[1] - options_.height;
    const int64_t beside = sample[2] - options_.width;
    const int64_t corner = view % 5;
    const int64_t top = corner == 4 ? below / 2 : corner / 2 * below;
    const int64_t left = corner == 4 ? beside / 2 : corner % 2 * beside;
    const bool is_mirrored = view >= 5;
    const auto width = static_cast<size_t>(options_.width);
    for (int64_t c = 0; c < sample[0]; ++c) {
      for (int64_t y = 0; y < options_.height; ++y, to += width * item) {
        const int64_t at = (c * sample[1] + top + y) * sample[2] + left;
        const std::byte* row = from + static_cast<size_t>(at) * item;
        if (!is_mirrored) {
          std::memcpy(to, row, width * item);
          continue;
        }
        for (size_t x = 0; x < width; ++x)
          std::memcpy(to + x * item, row + (width - 1 - x) * item, item);
      }
    }
  }

  TenViewsOptions options_;
};

}  // namespace

Transform ten_views(TenViewsOptions options) { return std::make_shared<TenViews>(options); }

}  // namespace thalweg::data
