#pragma once

// Decimal numbers in text, correctly rounded and in no locale. Inline for numbers of few digits, as
// most are in data files; a library does the rest.
//
// All functions read up to kDecimalPadding bytes after the number, so whoever holds the text has so
// many '\n' after its end.

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace thalweg::data {

inline constexpr size_t kDecimalPadding = 64;

namespace detail {

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr uint32_t kWholePowersOfTen[] = {1,      10,      100,      1000,     10000,
                                                 100000, 1000000, 10000000, 100000000};

/// Eight bytes of text with '0' taken off each; the first is the lowest.
inline uint64_t load_digits(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word;
  std::memcpy(&word, at, 8);
  return word ^ 0x3030303030303030;
}

/// How many of the eight are digits before the first that is none. A byte of 0x8A or more carries
/// into the next, which then comes after one that is no digit.
inline int count_digits(uint64_t word) {
  const uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  return others == 0 ? 8 : std::countr_zero(others) >> 3;
}

/// The number that the first `n` digits spell, 1 <= n <= 8: pairs of neighbours are joined thrice.
inline uint32_t join_digits(uint64_t word, int n) {
  word <<= 64 - 8 * n;
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  return static_cast<uint32_t>(word * 10000 + (word >> 32));
}

/// Whether rounding the quotient or product of exact numbers to f32 may round twice: it lies midway
/// between two f32 after the first rounding.
inline bool is_midway(double value) {
  return (std::bit_cast<uint64_t>(value) & 0x1FFFFFFF) == 0x10000000;
}

/// Any number; null if there is none at `at` or it is too large for T.
template <typename T>
const char* parse_any_decimal(const char* at, const char* end, T& value);
extern template const char* parse_any_decimal(const char*, const char*, float&);
extern template const char* parse_any_decimal(const char*, const char*, double&);

/// A number with an exponent: mantissa * 10^-places and, at `at`, the exponent's letter. The
/// mantissa is below 2^53.
template <typename T>
const char* parse_exponent(const char* begin, const char* at, const char* end, uint64_t mantissa,
                           int places, T& value);
extern template const char* parse_exponent(const char*, const char*, const char*, uint64_t, int,
                                           float&);
extern template const char* parse_exponent(const char*, const char*, const char*, uint64_t, int,
                                           double&);

}  // namespace detail

/// The number that begins at `at`: sign, digits, point, digits, exponent; `.5` and `5.` too, but no
/// infinity, no NaN, no hexadecimal. Returns its end; null if there is none or it is too large
/// for T. The text goes on to `end` at least and is padded there.
template <typename T>
[[gnu::always_inline]] inline const char* parse_decimal(const char* at, const char* end, T& value) {
  using namespace detail;
  const char* const begin = at;
  const bool negative = *at == '-';
  at += negative;
  const uint64_t word = load_digits(at);
  const int n = count_digits(word);
  if (n == 0 || n == 8) [[unlikely]]
    return parse_any_decimal(begin, end, value);
  uint64_t mantissa = join_digits(word, n);
  at += n;
  int places = 0;
  if (*at == '.') {
    const uint64_t fraction = load_digits(++at);
    places = count_digits(fraction);
    if (places == 0) [[unlikely]]
      return parse_any_decimal(begin, end, value);
    at += places;
    if (places == 8 && static_cast<unsigned char>(*at - '0') < 10) [[unlikely]]
      return parse_any_decimal(begin, end, value);
    mantissa = mantissa * kWholePowersOfTen[places] + join_digits(fraction, places);
  }
  if ((*at | 0x20) == 'e') [[unlikely]]
    return parse_exponent(begin, at, end, mantissa, places, value);
  if constexpr (std::is_same_v<T, float>) {
    if (places == 0) {
      const float magnitude = static_cast<float>(static_cast<int32_t>(mantissa));
      value = negative ? -magnitude : magnitude;
      return at;
    }
  }
  // Both are exact, so that there is one rounding (Clinger 1990).
  const double magnitude =
      static_cast<double>(static_cast<int64_t>(mantissa)) / kPowersOfTen[places];
  if (std::is_same_v<T, float> && is_midway(magnitude)) [[unlikely]]
    return parse_any_decimal(begin, end, value);
  value = static_cast<T>(negative ? -magnitude : magnitude);
  return at;
}

}  // namespace thalweg::data
