#include <cmath>

#include <thalweg/data/image_transforms.h>

#include "base/fail.h"
#include "data/image/xml.h"

namespace thalweg::data {
namespace {

class SubtractMean final : public TransformStep {
 public:
  explicit SubtractMean(const std::string& path) : path_(path) {
    const OpenCvXml xml("mean file", path);
    const int64_t channels = xml.size("Channel");
    const int64_t height = xml.size("Row");
    const int64_t width = xml.size("Col");
    shape_ = {channels, height, width};
    const std::vector<float> pixels = xml.matrix("MeanImg");
    const auto n = static_cast<size_t>(height * width);
    if (pixels.size() != n * static_cast<size_t>(channels)) {
      fail_io("mean file: the number of values differs; {}: expected {} for {}, found {}", path,
              n * static_cast<size_t>(channels), to_string(shape_), pixels.size());
    }
    mean_.resize(pixels.size());
    for (size_t i = 0; i < pixels.size(); ++i) {
      const size_t channel = i % static_cast<size_t>(channels);
      mean_[channel * n + i / static_cast<size_t>(channels)] = pixels[i];
    }
  }

  Field output(const Field& input) const override {
    if (input.shape != shape_) {
      fail_invalid(
          "subtract_mean_file: the mean picture has another size; {} is {}, samples are {}", path_,
          to_string(shape_), to_string(input.shape));
    }
    if (input.dtype != DType::u8 && input.dtype != DType::f32)
      fail_invalid("subtract_mean_file: pictures are u8 or f32, not {}", name(input.dtype));
    return {input.name, DType::f32, input.shape};
  }

  Tensor apply(const Tensor& values, const Request& request, uint64_t) const override {
    Shape sample = values.shape();
    sample.erase(0);
    output({"", values.dtype(), sample});
    Tensor result = Tensor::empty(values.shape(), {.dtype = DType::f32});
    float* to = result.impl()->as<float>();
    const auto subtract = [&](const auto* from) {
      for (size_t i = 0; i < request.size() * mean_.size(); ++i)
        to[i] = static_cast<float>(from[i]) - mean_[i % mean_.size()];
    };
    if (values.dtype() == DType::u8)
      subtract(values.impl()->as<const uint8_t>());
    else
      subtract(values.impl()->as<const float>());
    return result;
  }

 private:
  std::string path_;
  Shape shape_;
  std::vector<float> mean_;
};

}  // namespace

RandomLightingOptions lighting_from_file(const std::string& path, double std) {
  const OpenCvXml xml("lighting file", path);
  RandomLightingOptions options{.std = std};
  const std::vector<float> values = xml.matrix("EigVal");
  const std::vector<float> vectors = xml.matrix("EigVec");
  if (values.empty() || vectors.size() != values.size() * values.size()) {
    fail_io(
        "lighting file: {} eigenvalues and {} numbers of eigenvectors; {}: expected n and n * n",
        values.size(), vectors.size(), path);
  }
  for (const std::vector<float>* all : {&values, &vectors})
    for (const float value : *all)
      if (!std::isfinite(value)) fail_io("lighting file: {} is no finite number; {}", value, path);
  options.values.clear();
  for (const float value : values) options.values.push_back(value / options.max);
  options.vectors.assign(vectors.begin(), vectors.end());
  return options;
}

Transform subtract_mean_file(const std::string& path) {
  return std::make_shared<SubtractMean>(path);
}

}  // namespace thalweg::data
