#pragma once

#include <string>
#include <string_view>

namespace thalweg {

/// The bytes that pairs of digits stand for; blanks between them do not count.
inline std::string from_hex(std::string_view hex) {
  std::string bytes, digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return bytes;
}

}  // namespace thalweg
