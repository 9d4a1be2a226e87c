#include <algorithm>
#include <cstring>

#include <thalweg/data/transforms.h>

#include "base/fail.h"
#include "data/convert.h"
#include "data/image/mirror_step.h"
#include "data/rows.h"

namespace thalweg::data {
namespace {

// Reverses `count` blocks of `bytes` each.
void reverse_blocks(std::byte* data, size_t count, size_t bytes) {
  if (bytes == 1) return std::reverse(data, data + count);
  for (size_t i = 0, j = count; i + 1 < j--; ++i)
    std::swap_ranges(data + i * bytes, data + (i + 1) * bytes, data + j * bytes);
}

class RandomFlip final : public TransformStep, public MirrorStep {
 public:
  explicit RandomFlip(RandomFlipOptions options) : options_(options) {
    if (!(options.probability >= 0 && options.probability <= 1)) {
      fail_invalid("random_flip: probability {} is not between 0 and 1", options.probability);
    }
  }

  Field output(const Field& input) const override {
    normalize_axis("random_flip", options_.axis, input.shape.size());
    return input;
  }

  bool mirrors_columns() const override { return options_.axis == -1; }
  bool draw(Philox& random) const override { return random.uniform() < options_.probability; }

  Tensor apply(const Tensor& values, const Request& request, uint64_t stream) const override {
    Shape sample = values.shape();
    sample.erase(0);
    const auto axis =
        static_cast<size_t>(normalize_axis("random_flip", options_.axis, sample.size()));
    const size_t sample_bytes =
        static_cast<size_t>(element_count(sample)) * item_size(values.dtype());
    size_t block = item_size(values.dtype());
    for (size_t i = axis + 1; i < sample.size(); ++i) block *= static_cast<size_t>(sample[i]);
    const size_t line = block * static_cast<size_t>(sample[axis]);
    auto* bytes = values.impl()->as<std::byte>();
    for (size_t i = 0; i < request.size(); ++i) {
      Philox random = request.random(i, stream);
      if (!draw(random)) continue;
      for (size_t at = 0; at < sample_bytes; at += line)
        reverse_blocks(bytes + i * sample_bytes + at, static_cast<size_t>(sample[axis]), block);
    }
    return values;
  }

 private:
  RandomFlipOptions options_;
};

class RandomCrop final : public TransformStep {
 public:
  explicit RandomCrop(RandomCropOptions options) : options_(options) {
    if (options.height < 0 || options.width < 0 || options.padding < 0) {
      fail_invalid("random_crop: height {}, width {} and padding {} must not be negative",
                   options.height, options.width, options.padding);
    }
  }

  Field output(const Field& input) const override {
    const size_t dims = input.shape.size();
    if (dims < 2) {
      fail_invalid("random_crop: samples of shape {} have no rows and columns",
                   to_string(input.shape));
    }
    Field field = input;
    const int64_t height = options_.height ? options_.height : input.shape[dims - 2];
    const int64_t width = options_.width ? options_.width : input.shape[dims - 1];
    if (height > input.shape[dims - 2] + 2 * options_.padding ||
        width > input.shape[dims - 1] + 2 * options_.padding) {
      fail_invalid("random_crop: a window of {} x {} is larger than samples of {} padded by {}",
                   height, width, to_string(input.shape), options_.padding);
    }
    field.shape[dims - 2] = height;
    field.shape[dims - 1] = width;
    return field;
  }

  Tensor apply(const Tensor& values, const Request& request, uint64_t stream) const override {
    Shape sample = values.shape();
    sample.erase(0);
    const Shape cropped = output({"", values.dtype(), sample}).shape;
    const Tensor result = Tensor::full(batch_shape(request.size(), cropped), options_.fill,
                                       {.dtype = values.dtype()});
    const Geometry geometry(sample, cropped, item_size(values.dtype()));
    const int64_t slack_y = geometry.in_height + 2 * options_.padding - geometry.height;
    const int64_t slack_x = geometry.in_width + 2 * options_.padding - geometry.width;
    for (size_t i = 0; i < request.size(); ++i) {
      Philox random = request.random(i, stream);
      const int64_t top = random.bounded(static_cast<uint32_t>(slack_y) + 1) - options_.padding;
      const int64_t left = random.bounded(static_cast<uint32_t>(slack_x) + 1) - options_.padding;
      geometry.copy(values.impl()->as<std::byte>(), result.impl()->as<std::byte>(), i, top, left);
    }
    return result;
  }

 private:
  // Sizes of a sample and of its window; planes are the axes before the last two, as one.
  struct Geometry {
    int64_t planes, in_height, in_width, height, width;
    size_t item;

    Geometry(const Shape& in, const Shape& out, size_t item_bytes)
        : planes(1),
          in_height(in[in.size() - 2]),
          in_width(in.back()),
          height(out[out.size() - 2]),
          width(out[out.size() - 1]),
          item(item_bytes) {
      for (size_t i = 0; i + 2 < in.size(); ++i) planes *= in[i];
    }

    // The part of the window at (top, left) that lies in sample i; the rest keeps its fill.
    void copy(const std::byte* from, std::byte* to, size_t i, int64_t top, int64_t left) const {
      const int64_t x0 = std::max<int64_t>(0, -left);
      const int64_t x1 = std::min(width, in_width - left);
      if (x0 >= x1) return;
      const int64_t first = static_cast<int64_t>(i) * planes;
      for (int64_t p = first; p < first + planes; ++p) {
        for (int64_t y = std::max<int64_t>(0, -top); y < std::min(height, in_height - top); ++y) {
          const int64_t source = (p * in_height + top + y) * in_width + left + x0;
          const int64_t target = (p * height + y) * width + x0;
          std::memcpy(to + static_cast<size_t>(target) * item,
                      from + static_cast<size_t>(source) * item,
                      static_cast<size_t>(x1 - x0) * item);
        }
      }
    }
  };

  RandomCropOptions options_;
};

}  // namespace

Transform random_flip(RandomFlipOptions options) { return std::make_shared<RandomFlip>(options); }

Transform random_crop(RandomCropOptions options) { return std::make_shared<RandomCrop>(options); }

}  // namespace thalweg::data
