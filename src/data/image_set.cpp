#include "data/image_set.h"

#include <thalweg/base/threads.h>

#include "base/fail.h"
#include "data/array_source.h"
#include "data/rows.h"

namespace thalweg::data {

Dataset make_image_set(std::string name, const Tensor& images, const Tensor& labels, bool flat,
                       std::vector<std::string> class_names) {
  const int64_t n = images.size(0), height = images.size(-2), width = images.size(-1);
  const int64_t channels = images.dims() == 4 ? images.size(1) : 1;
  const Shape shape =
      flat ? Shape({n, channels * height * width}) : Shape({n, channels, height, width});
  const std::vector<NamedTensor> fields = {{"data", with_shape(images, shape)}, {"label", labels}};
  const Dataset raw(std::make_shared<ArraySource>(std::move(name), fields, std::move(class_names)));
  return raw.transform({cast(DType::f32, 1 / 255.0)});
}

Dataset draw_image_set(const Drawing& drawing, bool flat, std::vector<std::string> class_names) {
  if (drawing.samples < 0)
    fail_invalid("{}: {} samples cannot be drawn", drawing.name, drawing.samples);
  const bool is_train = drawing.split == Split::train;
  const int64_t usual = is_train ? drawing.train_samples : drawing.test_samples;
  const int64_t n = drawing.samples ? drawing.samples : usual;
  Shape shape{n};
  for (const int64_t size : drawing.shape) shape.push_back(size);
  const int64_t pixels_of_sample = element_count(drawing.shape);
  const Tensor images = Tensor::empty(shape, {.dtype = DType::u8});
  const Tensor labels = Tensor::empty({n}, {.dtype = DType::i64});
  uint8_t* pixels = images.mutable_data<uint8_t>();
  int64_t* label = labels.mutable_data<int64_t>();
  const uint64_t seed = derive_seed(drawing.seed, is_train ? 0 : 1, drawing.stream);
  parallel_ranges(n, 64, drawing.sample_ns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Philox random(derive_seed(seed, static_cast<uint64_t>(i), drawing.stream));
      label[i] = drawing.draw(random, pixels + i * pixels_of_sample);
    }
  });
  return make_image_set(fmt::format("{} ({})", drawing.name, is_train ? "train" : "test"), images,
                        labels, flat, std::move(class_names));
}

}  // namespace thalweg::data
