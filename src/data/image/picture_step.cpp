#include "data/image/picture_step.h"

#include <algorithm>

#include "base/fail.h"
#include "data/convert.h"
#include "data/image/resample_rows.h"

namespace thalweg::data {

Field PictureStep::output(const Field& input) const {
  if (input.shape.size() != 3) {
    fail_invalid("{}: samples of shape {} are no pictures [channels, height, width]", operation(),
                 to_string(input.shape));
  }
  if (input.dtype != DType::u8 && input.dtype != DType::f32)
    fail_invalid("{}: pictures are u8 or f32, not {}; cast them first", operation(),
                 name(input.dtype));
  check_channels(input.shape[0]);
  return input;
}

Tensor PictureStep::apply(const Tensor& values, const Request& request, uint64_t stream) const {
  Shape sample = values.shape();
  sample.erase(0);
  output({"", values.dtype(), sample});
  const auto n = static_cast<size_t>(element_count(sample));
  std::vector<float> floats(values.dtype() == DType::u8 ? n : 0);
  const ConvertFunction to_float = find_convert(DType::u8, DType::f32);
  for (size_t i = 0; i < request.size(); ++i) {
    Philox random = request.random(i, stream);
    if (values.dtype() == DType::f32) {
      change({values.impl()->as<float>() + i * n, sample[0], sample[1], sample[2]}, random);
      continue;
    }
    uint8_t* bytes = values.impl()->as<uint8_t>() + i * n;
    to_float(bytes, floats.data(), n, 1, 0);
    change({floats.data(), sample[0], sample[1], sample[2]}, random);
    round_to_u8(floats.data(), bytes, n);
  }
  return values;
}

}  // namespace thalweg::data
