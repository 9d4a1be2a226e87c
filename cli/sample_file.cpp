#include "cli/sample_file.h"

#include <algorithm>

#include <fast_float/fast_float.h>

#include <thalweg/base/reader.h>
#include <thalweg/data/idx.h>
#include <thalweg/data/image.h>
#include <thalweg/ops/pointwise.h>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

enum class Kind { text, idx, image };

// By the first bytes, which a gzip file has inside.
Kind kind_of(Reader& reader) {
  char bytes[4] = {};
  const size_t found = reader.read_some(std::as_writable_bytes(std::span(bytes)));
  const std::string_view head(bytes, found);
  if (head.starts_with(std::string_view("\0\0", 2))) return Kind::idx;
  return head == "\x89PNG" || head.starts_with("\xff\xd8\xff") ? Kind::image : Kind::text;
}

bool is_separator(char c) { return c == ',' || c == ' ' || c == '\t' || c == ';'; }

// A table's first line that names its columns: no word of it is a number.
bool is_header(std::string_view line) {
  bool has_words = false;
  for (const char *at = line.data(), *const end = at + line.size(); at != end;) {
    const char* const next = std::find_if(at, end, is_separator);
    float ignored = 0;
    if (next != at && fast_float::from_chars(at, next, ignored).ec == std::errc()) return false;
    has_words = has_words || next != at;
    at = next == end ? end : next + 1;
  }
  return has_words;
}

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
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (number == 1 && is_header(line)) continue;
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

Tensor read_picture(const std::string& path, const Shape& sample) {
  const size_t n = sample.size();
  const Tensor picture = data::read_image(path, {.channels = n == 3 ? sample[0] : 1});
  const bool rows_fit =
      n < 2 || (picture.size(1) == sample[n - 2] && picture.size(2) == sample[n - 1]);
  if (!rows_fit || picture.size() != element_count(sample)) {
    fail_io("predict: the picture is of another size; {}: {} x {} pixels, a sample is {}", path,
            picture.size(2), picture.size(1), to_string(sample));
  }
  return picture;
}

Tensor read_elements(const std::string& path, const Shape& sample) {
  const Kind kind = kind_of(*open_reader(path));
  if (kind == Kind::text) return read_numbers(path, element_count(sample));
  const Tensor tensor = kind == Kind::idx ? data::read_idx(path) : read_picture(path, sample);
  return tensor.dtype() == DType::u8 ? tensor.to(DType::f32) * (1.0 / 255) : tensor.to(DType::f32);
}

}  // namespace

Tensor read_samples(const std::string& path, const Shape& sample) {
  const int64_t size = element_count(sample);
  const Tensor elements = read_elements(path, sample);
  if (size == 0 || elements.size() % size != 0) {
    fail_io("predict: the file does not hold whole samples; {}: {} numbers, a sample has {} = {}",
            path, elements.size(), to_string(sample), size);
  }
  Shape shape{elements.size() / size};
  for (const int64_t extent : sample) shape.push_back(extent);
  return elements.reshape(shape);
}

}  // namespace thalweg::cli
