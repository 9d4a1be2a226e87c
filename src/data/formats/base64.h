#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace thalweg::data {

/// The bytes that base64 text (RFC 4648) stands for; none for another character, a wrong length or
/// wrong padding.
std::optional<std::string> decode_base64(std::string_view text);

std::string encode_base64(std::string_view bytes);

}  // namespace thalweg::data
