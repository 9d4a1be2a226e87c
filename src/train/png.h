#pragma once

// Small pictures for the report: PNG files in memory, and as text that fits into a page.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace thalweg::train {

/// A PNG file with 8 bits a channel. `pixels` is [height, width, channels], channels 1 (grey) or 3
/// (RGB). Throws Error invalid if the sizes do not fit each other.
std::string encode_png(std::span<const uint8_t> pixels, int64_t height, int64_t width,
                       int64_t channels);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace thalweg::train
