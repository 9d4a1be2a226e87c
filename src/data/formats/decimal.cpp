#include "data/formats/decimal.h"

#include <cmath>

#include <fast_float/fast_float.h>

namespace thalweg::data::detail {

template <typename T>
const char* parse_any_decimal(const char* at, const char* end, T& value) {
  const bool negative = *at == '-';
  const char* digits = at + (negative || *at == '+');
  const auto is_digit = [](char c) { return static_cast<unsigned char>(c - '0') < 10; };
  if (!is_digit(*digits) && *digits != '.') return nullptr;  // the library knows names for numbers
  const auto [next, error] = fast_float::from_chars(digits, end, value);
  if (next == digits || std::isinf(value)) return nullptr;
  if (error != std::errc() && error != std::errc::result_out_of_range) return nullptr;
  if (negative) value = -value;
  return next;
}

template <typename T>
const char* parse_exponent(const char* begin, const char* at, const char* end, uint64_t mantissa,
                           int places, T& value) {
  const bool is_signed = at[1] == '-' || at[1] == '+';
  const char* digits = at + 1 + is_signed;
  const uint64_t word = load_digits(digits);
  const int n = count_digits(word);
  if (n == 0 || n == 8) return parse_any_decimal(begin, end, value);
  const auto magnitude = static_cast<int>(join_digits(word, n));
  const int exponent = (at[1] == '-' ? -magnitude : magnitude) - places;
  // In this range both factors are exact and no result leaves the normal numbers of f32.
  constexpr int kMax = 22;
  if (exponent < -kMax || exponent > kMax || mantissa >= (uint64_t{1} << 53))
    return parse_any_decimal(begin, end, value);
  const auto whole = static_cast<double>(mantissa);
  double result = exponent < 0 ? whole / kPowersOfTen[-exponent] : whole * kPowersOfTen[exponent];
  if (std::is_same_v<T, float> && is_midway(result)) return parse_any_decimal(begin, end, value);
  if (*begin == '-') result = -result;
  value = static_cast<T>(result);
  return digits + n;
}

template const char* parse_any_decimal(const char*, const char*, float&);
template const char* parse_any_decimal(const char*, const char*, double&);
template const char* parse_exponent(const char*, const char*, const char*, uint64_t, int, float&);
template const char* parse_exponent(const char*, const char*, const char*, uint64_t, int, double&);

}  // namespace thalweg::data::detail
