#include "data/formats/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/fail.h"
#include "data/formats/numbers.h"

namespace thalweg::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 1 << 20;
constexpr size_t kAlignment = 64;

struct TypeName {
  std::string_view code;
  DType dtype;
};
constexpr TypeName kTypes[] = {{"b1", DType::boolean}, {"i1", DType::i8},  {"i2", DType::i16},
                               {"i4", DType::i32},     {"i8", DType::i64}, {"u1", DType::u8},
                               {"f2", DType::f16},     {"f4", DType::f32}, {"f8", DType::f64}};

// The dictionary of a header: a Python literal of three known keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  void parse(RawArray& array) {
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = parse_string();
      expect(':');
      if (key == "descr" && !has_descr) {
        parse_dtype(array);
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        array.column_major = parse_bool();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        array.shape = parse_shape();
        has_shape = true;
      } else {
        fail_header("expected descr, fortran_order and shape, each once");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) fail_header("expected the end of the header");
    if (!has_descr || !has_order || !has_shape)
      fail_header("expected descr, fortran_order and shape, each once");
  }

 private:
  [[noreturn]] void fail_header(std::string_view what) const {
    fail_io("npy: malformed header; {}, character {}: {}, found '{}'", where_, at_, what,
            shortened(text_.substr(at_)));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail_header(fmt::format("expected '{}'", c));
  }

  std::string_view parse_string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const size_t end = text_.find(quote, at_ + 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos)
      fail_header("expected a text in quotes");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  bool parse_bool() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail_header("expected True or False");
  }

  Shape parse_shape() {
    Shape shape;
    expect('(');
    for (bool has_comma = true; !take(')'); has_comma = take(',')) {
      if (!has_comma) fail_header("expected ',' or ')'");
      if (shape.size() == kMaxDims)
        fail_header(fmt::format("expected at most {} dimensions", kMaxDims));
      skip_blanks();
      int64_t size = -1;
      const char* end = text_.data() + text_.size();
      const auto [at, error] = std::from_chars(text_.data() + at_, end, size);
      if (error != std::errc() || size < 0) fail_header("expected a size");
      at_ = static_cast<size_t>(at - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
      shape.push_back(size);
      // `(2)` is a number in Python, not a tuple.
      if (shape.size() == 1 && at_ < text_.size() && text_[at_] == ')')
        fail_header("expected ',' after the only size");
    }
    return shape;
  }

  void parse_dtype(RawArray& array) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[')
      fail_header("a structured dtype cannot be read; save its fields as arrays of their own");
    const size_t begin = at_;
    const std::string_view descr = parse_string();
    if (descr.find('O') != std::string_view::npos) {
      at_ = begin;
      fail_header("objects are stored as a pickle, which may run code and is not read");
    }
    const char order = descr.empty() ? '\0' : descr[0];
    const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
    const std::string_view code = descr.substr(has_order ? 1 : 0);
    const auto* type = std::ranges::find(kTypes, code, &TypeName::code);
    if (type == std::end(kTypes)) {
      at_ = begin;
      fail_header("expected dtype b1, i1, i2, i4, i8, u1, f2, f4 or f8");
    }
    array.dtype = type->dtype;
    array.swapped = order == '>';
  }

  std::string_view text_;
  std::string where_;
  size_t at_ = 0;
};

void check_size(const RawArray& array, uint64_t left) {
  uint64_t bytes = item_size(array.dtype);
  bool fits = true;
  for (int64_t size : array.shape)
    fits = fits && !__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes);
  const bool is_empty = std::ranges::count(array.shape, 0) > 0;
  if ((fits || is_empty) && (is_empty ? 0 : bytes) == left) return;
  fail_io(
      "npy: size differs from the header's; {} at byte {}: expected {} bytes for {} {}, found {}",
      array.name, array.offset, fits ? fmt::format("{}", bytes) : "more than 2^64",
      name(array.dtype), to_string(array.shape), left);
}

}  // namespace

RawArray read_npy_header(std::shared_ptr<const ByteSource> source, uint64_t begin, uint64_t end,
                         const std::string& name) {
  std::byte start[12];
  const auto found = static_cast<size_t>(std::min<uint64_t>(sizeof(start), end - begin));
  source->read_at(begin, std::span(start).first(found));
  if (found < 10 || as_text(start).substr(0, kMagic.size()) != kMagic) {
    fail_io("npy: wrong magic number; {}: expected \\x93NUMPY; is it an NPY file?", name);
  }
  const int version = static_cast<int>(start[6]);
  if (version < 1 || version > 3 || (version > 1 && found < 12)) {
    fail_io("npy: unknown format version {}.{}; {}: expected 1, 2 or 3", version,
            static_cast<int>(start[7]), name);
  }
  const size_t fixed = version == 1 ? 10 : 12;
  const uint64_t size = version == 1 ? load_le<uint16_t>(start + 8) : load_le<uint32_t>(start + 8);
  if (size > kMaxHeader || size > end - begin - fixed) {
    fail_io("npy: a header of {} bytes does not fit; {}: {} bytes follow, {} are allowed", size,
            name, end - begin - fixed, kMaxHeader);
  }
  std::string text(size, '\0');
  source->read_at(begin + fixed, std::as_writable_bytes(std::span(text)));
  RawArray array;
  array.name = name;
  array.offset = begin + fixed + size;
  HeaderParser(text, name).parse(array);
  check_size(array, end - array.offset);
  array.source = std::move(source);
  return array;
}

std::string npy_header(DType dtype, const Shape& shape) {
  const auto* type = std::ranges::find(kTypes, dtype, &TypeName::dtype);
  if (type == std::end(kTypes)) fail_invalid("npy: NumPy has no {}; convert to f32", name(dtype));
  std::string sizes;
  for (int64_t size : shape) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 item_size(dtype) == 1 ? '|' : '<', type->code, sizes,
                                 shape.size() == 1 ? "," : "");
  constexpr size_t kFixed = 10;
  text.append((kAlignment - (kFixed + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header +=
      {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace thalweg::data
