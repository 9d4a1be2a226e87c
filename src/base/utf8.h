#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace thalweg {

inline constexpr int32_t kReplacement = 0xFFFD;

/// What stands at the start of a text that is not empty.
struct CodePoint {
  int32_t value;  // kReplacement if it is not UTF-8
  size_t bytes;   // of it; of what is not UTF-8, the longest part that could have begun a character
  bool is_valid;
};

/// By RFC 3629: no longer forms than needed, no surrogates, nothing beyond U+10FFFF. What is
/// replaced is cut as the Unicode standard recommends (section 3.9).
CodePoint next_code_point(std::string_view text);

}  // namespace thalweg
