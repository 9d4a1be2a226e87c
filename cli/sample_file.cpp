#include "cli/sample_file.h"

#include <fast_float/fast_float.h>

#include <thalweg/base/reader.h>
#include <thalweg/data/idx.h>
#include <thalweg/ops/pointwise.h>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

bool is_idx(Reader& reader) {
  std::byte head[2] = {std::byte{1}, std::byte{1}};
  return reader.read_some(head) == 2 && head[0] == std::byte{0} && head[1] == std::byte{0};
}

bool is_separator(char c) { return c == ',' || c == ' ' || c == '\t' || c == ';'; }

// Appends the numbers of a line.
void parse_line(std::string_view line, const std::string& place, std::vector<float>& numbers) {
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    while (at != end && is_separator(*at)) ++at;
    if (at == end) return;
    float value = 0;
    const auto [next, error] = fast_float::from_chars(at, end, value);
    if (error != std::errc() || (next != end && !is_separator(*next))) {
      const std::string_view word(at,
                                  static_cast<size_t>(std::find_if(at, end, is_separator) - at));
      fail_io("predict: not a number; {}: found '{}'", place, word);
    }
    numbers.push_back(value);
    at = next;
  }
}

Tensor read_numbers(const std::string& path, int64_t size) {
  const std::unique_ptr<Reader> reader = open_reader(path);
  std::vector<float> numbers;
  std::string line;
  for (int64_t number = 1; reader->read_line(line); ++number) {
    const size_t before = numbers.size();
    const std::string place = fmt::format("{}:{}", path, number);
    parse_line(line, place, numbers);
    const auto found = static_cast<int64_t>(numbers.size() - before);
    if (found != 0 && found != size) {
      fail_io(
          "predict: a sample has another size than the net's; {}: expected {} numbers, found {}",
          place, size, found);
    }
  }
  return Tensor::of(numbers);
}

Tensor read_elements(const std::string& path) {
  if (!is_idx(*open_reader(path))) return {};
  const Tensor tensor = data::read_idx(path);
  return tensor.dtype() == DType::u8 ? tensor.to(DType::f32) * (1.0 / 255) : tensor.to(DType::f32);
}

}  // namespace

Tensor read_samples(const std::string& path, const Shape& sample) {
  const int64_t size = element_count(sample);
  Tensor elements = read_elements(path);
  if (!elements.defined()) elements = read_numbers(path, size);
  if (size == 0 || elements.size() % size != 0) {
    fail_io("predict: the file does not hold whole samples; {}: {} numbers, a sample has {} = {}",
            path, elements.size(), to_string(sample), size);
  }
  Shape shape{elements.size() / size};
  for (const int64_t extent : sample) shape.push_back(extent);
  return elements.reshape(shape);
}

}  // namespace thalweg::cli
