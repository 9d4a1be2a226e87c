#include <charconv>

#include <fast_float/fast_float.h>

#include <thalweg/base/file.h>
#include <thalweg/data/image_transforms.h>

#include "base/fail.h"
#include "data/formats/numbers.h"

namespace thalweg::data {
namespace {

// What stands between <name ...> and </name> in an XML file of OpenCV, which nests no element of
// the same name.
std::string_view element(std::string_view xml, std::string_view name, const std::string& path) {
  const std::string open = fmt::format("<{}", name);
  const std::string close = fmt::format("</{}>", name);
  for (size_t at = xml.find(open); at != std::string_view::npos; at = xml.find(open, at + 1)) {
    const size_t after = at + open.size();
    if (after < xml.size() && xml[after] != '>' && xml[after] != ' ') continue;
    const size_t begin = xml.find('>', after);
    const size_t end = xml.find(close, after);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
    return xml.substr(begin + 1, end - begin - 1);
  }
  fail_io("mean file: <{}> is not there or not closed; {}; is it an OpenCV XML file as CNTK's?",
          name, path);
}

int64_t whole_number(std::string_view xml, std::string_view name, const std::string& path) {
  const std::string_view text = trimmed(element(xml, name, path));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 1 << 20)
    fail_io("mean file: <{}> is no size; {}: found '{}'", name, path, shortened(text));
  return value;
}

std::vector<float> numbers_in(std::string_view text, const std::string& path) {
  std::vector<float> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  for (;;) {
    while (at < end && is_blank(*at)) ++at;
    if (at == end) return numbers;
    float value;
    const auto [next, error] = fast_float::from_chars(at, end, value);
    if (error != std::errc() || (next < end && !is_blank(*next))) {
      fail_io("mean file: not a number; {}, value {}: found '{}'", path, numbers.size(),
              std::string_view(at, std::min<size_t>(20, static_cast<size_t>(end - at))));
    }
    numbers.push_back(value);
    at = next;
  }
}

class SubtractMean final : public TransformStep {
 public:
  explicit SubtractMean(const std::string& path) : path_(path) {
    const std::string xml = read_file(path, uint64_t{1} << 30);
    const int64_t channels = whole_number(xml, "Channel", path);
    const int64_t height = whole_number(xml, "Row", path);
    const int64_t width = whole_number(xml, "Col", path);
    shape_ = {channels, height, width};
    const std::vector<float> pixels =
        numbers_in(element(element(xml, "MeanImg", path), "data", path), path);
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

Transform subtract_mean_file(const std::string& path) {
  return std::make_shared<SubtractMean>(path);
}

}  // namespace thalweg::data
