#include "data/formats/plain_values.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "data/formats/decimal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/formats/plain_values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace thalweg::data::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = 64;
static_assert(kBlock <= kDecimalPadding);

// A bit for each byte of a block.
struct Masks {
  uint64_t digits;
  uint64_t ends;   // what is no part of a word: blanks and stops
  uint64_t stops;  // '|' and control bytes but for tabs
};

template <class V>
inline auto IsDigit(V digit) {
  return hn::Eq(hn::Min(digit, hn::Set(hn::DFromV<V>(), 9)), digit);
}

inline Masks LookAt(const char* text) {
  const hn::CappedTag<uint8_t, kBlock> d;
  const auto* from = reinterpret_cast<const uint8_t*>(text);
  const auto v_space = hn::Set(d, ' ');
  const auto v_tab = hn::Set(d, '\t');
  const auto v_bar = hn::Set(d, '|');
  uint8_t digits[kBlock / 8 + 8];
  uint8_t ends[kBlock / 8 + 8];
  uint8_t stops[kBlock / 8 + 8];
  for (size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
    const auto bytes = hn::LoadU(d, from + i);
    const auto low = hn::Eq(hn::Min(bytes, v_space), bytes);  // <= ' '
    const auto bar = hn::Eq(bytes, v_bar);
    const auto blank = hn::Or(hn::Eq(bytes, v_space), hn::Eq(bytes, v_tab));
    hn::StoreMaskBits(d, IsDigit(hn::Xor(bytes, hn::Set(d, '0'))), digits + i / 8);
    hn::StoreMaskBits(d, hn::Or(low, bar), ends + i / 8);
    hn::StoreMaskBits(d, hn::Or(bar, hn::AndNot(blank, low)), stops + i / 8);
  }
  Masks masks;
  std::memcpy(&masks.digits, digits, 8);
  std::memcpy(&masks.ends, ends, 8);
  std::memcpy(&masks.stops, stops, 8);
  return masks;
}

// A number of at most eight digits and, maybe, a point among seven. Its digits become one whole
// number, which a division by a power of ten then makes the right one: both are exact, even in f32.
// False if it is anything else.
template <typename T>
inline bool ParseShort(const char* begin, size_t size, bool negative, T& value) {
  if (size - 1 > 7) return false;
  uint64_t digits = detail::load_digits(begin) << (64 - 8 * size);
  const uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  size_t places = 0;
  if (others != 0) {
    const int point = std::countr_zero(others) - 7;
    if (static_cast<uint8_t>(digits >> point) != ('.' ^ '0') || (others & (others - 1)) != 0 ||
        size == 1) {
      return false;
    }
    const uint64_t before = (uint64_t{1} << point) - 1;
    digits = (digits & (~before << 8)) | (digits & before) << 8;
    places = static_cast<size_t>(56 - point) / 8;
  }
  static constexpr T kScales[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  const T magnitude =
      static_cast<T>(static_cast<int32_t>(detail::join_digits(digits, 8))) / kScales[places];
  value = negative ? -magnitude : magnitude;
  return true;
}

// Whether words that end in this block are whole numbers of at most three digits: pixels, counts,
// classes. `open` bytes of a word are in the block before, whose digits are `before`.
inline bool AreSmall(const Masks& masks, uint64_t before, size_t open, uint64_t wanted) {
  if ((~(masks.digits | masks.ends) & wanted) != 0) return false;
  if (open > 3 || (open > 0 && (~before >> (64 - open)) != 0)) return false;
  const auto shifted = [&](int n) { return masks.digits << n | before >> (64 - n); };
  return (masks.digits & shifted(1) & shifted(2) & shifted(3) & wanted) == 0;
}

// The numbers that end before the bytes in `ends`, all at once: every byte takes the three before
// it as digits, and those in `ends` are kept. Writes up to kBlock values, of which the first count.
inline void ParseSmall(const char* text, uint64_t ends, float* values) {
  const hn::CappedTag<uint8_t, kBlock> d;
  HWY_ALIGN uint8_t low[kBlock];   // the last two digits
  HWY_ALIGN uint8_t high[kBlock];  // the one before
  const auto v_zero = hn::Set(d, '0');
  const auto* from = reinterpret_cast<const uint8_t*>(text);
  for (size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
    const auto ones = hn::Xor(hn::LoadU(d, from + i - 1), v_zero);
    auto tens = hn::Xor(hn::LoadU(d, from + i - 2), v_zero);
    auto hundreds = hn::Xor(hn::LoadU(d, from + i - 3), v_zero);
    const auto has_tens = IsDigit(tens);
    tens = hn::IfThenElseZero(has_tens, tens);
    hundreds = hn::IfThenElseZero(hn::And(has_tens, IsDigit(hundreds)), hundreds);
    const auto twice = hn::Add(tens, tens);
    const auto four_times = hn::Add(twice, twice);
    hn::Store(hn::Add(ones, hn::Add(twice, hn::Add(four_times, four_times))), d, low + i);
    hn::Store(hundreds, d, high + i);
  }
  const hn::CappedTag<float, 16> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  const auto v_bits = hn::Shl(hn::Set(di, 1), hn::Iota(di, 0));
  for (size_t i = 0; i < kBlock; i += lanes) {
    const auto group = static_cast<uint32_t>(ends >> i) & ((uint32_t{1} << lanes) - 1);
    const auto number =
        hn::MulAdd(hn::ConvertTo(df, hn::PromoteTo(di, hn::Load(d8, high + i))), hn::Set(df, 100),
                   hn::ConvertTo(df, hn::PromoteTo(di, hn::Load(d8, low + i))));
    const auto kept = hn::TestBit(hn::Set(di, static_cast<int32_t>(group)), v_bits);
    hn::StoreU(hn::Compress(number, hn::RebindMask(df, kept)), df, values);
    values += std::popcount(group);
  }
}

// To `values`, where there is room for `room` of them.
template <typename T>
inline void PutSmall(const char* text, uint64_t ends, T* values, size_t room) {
  if constexpr (std::is_same_v<T, float>) {
    if (room >= kBlock) return ParseSmall(text, ends, values);
  }
  float parsed[kBlock];
  ParseSmall(text, ends, parsed);
  std::copy_n(parsed, std::popcount(ends), values);
}

// Where words end is known before they are parsed, so that none waits for the one before.
template <typename T>
inline const char* ParseValues(const char* at, const char* end, T* values, size_t dim) {
  if (*at != ' ' && *at != '\t') return nullptr;
  const char* begin = ++at;
  uint64_t before = 0;  // digits in the last block
  for (T* const last = values + dim;; at += kBlock) {
    const Masks masks = LookAt(at);
    const uint64_t first_stop = masks.stops & -masks.stops;
    const uint64_t wanted = (first_stop - 1) | first_stop;
    uint64_t ends = masks.ends & wanted;
    const uint64_t digits_before = std::exchange(before, masks.digits);
    if (AreSmall(masks, digits_before, static_cast<size_t>(at - begin), wanted)) {
      const uint64_t words = ends & (masks.digits << 1 | digits_before >> 63);
      const auto room = static_cast<size_t>(last - values);
      const auto count = static_cast<size_t>(std::popcount(words));
      if (count > room) return nullptr;
      PutSmall(at, words, values, room);
      values += count;
      if (ends != 0) begin = at + std::bit_width(ends);
      ends = 0;
    }
    for (; ends != 0; ends &= ends - 1) {
      const char* const word_end = at + std::countr_zero(ends);
      if (word_end == begin) {
        if (ends == first_stop) break;
        return nullptr;
      }
      if (values == last) return nullptr;
      const bool negative = *begin == '-';
      const char* const digits = begin + negative;
      if (!ParseShort(digits, static_cast<size_t>(word_end - digits), negative, *values) &&
          parse_decimal(begin, end, *values) != word_end) {
        return nullptr;
      }
      ++values;
      begin = word_end + 1;
    }
    if (first_stop != 0) return values == last ? at + std::countr_zero(first_stop) : nullptr;
  }
}

const char* ParseF32(const char* at, const char* end, float* values, size_t dim) {
  return ParseValues(at, end, values, dim);
}
const char* ParseF64(const char* at, const char* end, double* values, size_t dim) {
  return ParseValues(at, end, values, dim);
}

}  // namespace thalweg::data::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::data {

HWY_EXPORT(ParseF32);
HWY_EXPORT(ParseF64);

const char* parse_plain_values(const char* at, const char* end, float* values, size_t dim) {
  return HWY_DYNAMIC_DISPATCH(ParseF32)(at, end, values, dim);
}
const char* parse_plain_values(const char* at, const char* end, double* values, size_t dim) {
  return HWY_DYNAMIC_DISPATCH(ParseF64)(at, end, values, dim);
}

}  // namespace thalweg::data
#endif
