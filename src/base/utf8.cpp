#include "base/utf8.h"

namespace thalweg {
namespace {

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

// The range of the second byte; it alone tells long forms and surrogates.
struct SecondByte {
  uint8_t low;
  uint8_t high;
};

SecondByte second_byte(uint8_t first) {
  switch (first) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {0x80, 0xBF};
  }
}

}  // namespace

CodePoint next_code_point(std::string_view text) {
  const uint8_t first = byte_at(text, 0);
  if (first < 0x80) return {first, 1, true};
  if (first < 0xC2 || first > 0xF4) return {kReplacement, 1, false};
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  int32_t value = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const SecondByte range = i == 1 ? second_byte(first) : SecondByte{0x80, 0xBF};
    if (i == text.size() || byte_at(text, i) < range.low || byte_at(text, i) > range.high)
      return {kReplacement, i, false};
    value = value << 6 | (byte_at(text, i) & 0x3F);
  }
  return {value, length, true};
}

}  // namespace thalweg
