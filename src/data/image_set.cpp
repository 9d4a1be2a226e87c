#include "data/image_set.h"

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

}  // namespace thalweg::data
