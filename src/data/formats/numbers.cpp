#include "data/formats/numbers.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include <fast_float/fast_float.h>

namespace thalweg::data {
namespace {

template <typename T>
NumberFault store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
  return NumberFault::none;
}

template <typename T>
NumberFault parse_integer(std::string_view text, std::byte* to) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && at == end) return NumberFault::out_of_range;
  if (error != std::errc() && std::is_unsigned_v<T> && text.starts_with('-')) {
    int64_t negative;
    const auto whole = std::from_chars(text.data(), end, negative);
    if (whole.ptr == end && whole.ec != std::errc::invalid_argument)
      return NumberFault::out_of_range;
  }
  if (error != std::errc() || at != end) return NumberFault::malformed;
  return store(value, to);
}

template <typename T>
NumberFault parse_floating(std::string_view text, T& value, char decimal) {
  const char* end = text.data() + text.size();
  const auto [at, error] = fast_float::from_chars_advanced(
      text.data(), end, value,
      fast_float::parse_options{fast_float::chars_format::general, decimal});
  if (at != end || error == std::errc::invalid_argument) return NumberFault::malformed;
  const size_t sign = text.starts_with('-');
  const bool is_word = sign < text.size() && (text[sign] | 0x20) == 'i';
  if (std::isinf(value) && !is_word) return NumberFault::out_of_range;
  return NumberFault::none;
}

template <typename T>
NumberFault parse_half(std::string_view text, std::byte* to, char decimal) {
  float value;
  const NumberFault fault = parse_floating(text, value, decimal);
  if (fault != NumberFault::none) return fault;
  const T half(value);
  if (std::isinf(static_cast<float>(half)) && !std::isinf(value)) return NumberFault::out_of_range;
  return store(half, to);
}

}  // namespace

NumberFault parse_number(std::string_view text, DType dtype, std::byte* to, char decimal) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-' && text[1] != '+')
    text.remove_prefix(1);
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      if (text == "0" || text == "1") return store(text == "1", to);
      return NumberFault::malformed;
    } else if constexpr (std::is_integral_v<T>) {
      return parse_integer<T>(text, to);
    } else if constexpr (std::is_floating_point_v<T>) {
      T value;
      const NumberFault fault = parse_floating(text, value, decimal);
      return fault == NumberFault::none ? store(value, to) : fault;
    } else {
      return parse_half<T>(text, to, decimal);
    }
  });
}

const char* describe(NumberFault fault, DType dtype) {
  if (fault == NumberFault::out_of_range) return "out of range";
  if (dtype == DType::boolean) return "neither 0 nor 1";
  return is_integer(dtype) ? "not a whole number" : "not a number";
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string_view shortened(std::string_view text) { return text.substr(0, 60); }

}  // namespace thalweg::data
