#include "data/image/window_step.h"

#include "base/fail.h"

namespace thalweg::data {
namespace {

// [.., height, width]: everything before is planes.
struct PlaneSizes {
  int64_t planes = 1;
  int64_t height;
  int64_t width;
};

PlaneSizes sizes_of(const char* operation, const Shape& sample, DType dtype) {
  if (sample.size() < 2)
    fail_invalid("{}: samples of shape {} have no rows and columns", operation, to_string(sample));
  if (dtype != DType::u8 && dtype != DType::f32)
    fail_invalid("{}: pictures are u8 or f32, not {}; cast them first", operation, name(dtype));
  PlaneSizes sizes{1, sample[sample.size() - 2], sample.back()};
  for (size_t i = 0; i + 2 < sample.size(); ++i) sizes.planes *= sample[i];
  return sizes;
}

Shape with_sizes(Shape sample, int64_t height, int64_t width) {
  sample[sample.size() - 2] = height;
  sample.back() = width;
  return sample;
}

}  // namespace

Window whole_window(const PixelBox& part) {
  Window window;
  window.part = part;
  window.height = window.inner_height = part.height;
  window.width = window.inner_width = part.width;
  return window;
}

Field WindowStep::output(const Field& input) const {
  const PlaneSizes sizes = sizes_of(operation(), input.shape, input.dtype);
  Philox random(0);
  const Window window = this->window(sizes.height, sizes.width, random);
  return {input.name, input.dtype, with_sizes(input.shape, window.height, window.width)};
}

Tensor WindowStep::apply(const Tensor& values, const Request& request, uint64_t stream) const {
  Shape sample = values.shape();
  sample.erase(0);
  const PlaneSizes sizes = sizes_of(operation(), sample, values.dtype());
  const size_t item = item_size(values.dtype());
  const auto in_bytes = static_cast<size_t>(element_count(sample)) * item;
  Tensor result;
  for (size_t i = 0; i < request.size(); ++i) {
    Philox random = request.random(i, stream);
    const Window w = window(sizes.height, sizes.width, random);
    if (i == 0) {
      Shape shape = with_sizes(sample, w.height, w.width);
      shape.insert(0, static_cast<int64_t>(request.size()));
      const bool is_covered = w.inner_height == w.height && w.inner_width == w.width;
      result = is_covered ? Tensor::empty(shape, {.dtype = values.dtype()})
                          : Tensor::full(shape, w.fill, {.dtype = values.dtype()});
    }
    const int64_t plane = w.height * w.width;
    auto* to = result.impl()->as<std::byte>() +
               static_cast<size_t>(static_cast<int64_t>(i) * sizes.planes * plane +
                                   w.top * w.width + w.left) *
                   item;
    const Resampling part{static_cast<double>(w.part.top),
                          static_cast<double>(w.part.left),
                          static_cast<double>(w.part.height),
                          static_cast<double>(w.part.width),
                          w.inner_height,
                          w.inner_width,
                          w.interpolation,
                          w.mirrored};
    resample_planes({values.impl()->as<const std::byte>() + i * in_bytes, values.dtype(),
                     sizes.planes, sizes.height, sizes.width},
                    part, {to, w.width, plane});
  }
  if (result.defined()) return result;
  const Field field = output({"", values.dtype(), sample});
  Shape shape = field.shape;
  shape.insert(0, 0);
  return Tensor::empty(shape, {.dtype = field.dtype});
}

}  // namespace thalweg::data
