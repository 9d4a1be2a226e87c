#pragma once

#include <string>

#include "data/image/jpeg.h"

namespace thalweg::data {

bool is_png(Bytes start);

/// Reads the header only. Throws Error{io}, naming `name`, for what is no PNG, and
/// Error{unavailable} where Thalweg was built without libpng.
ImageSize png_size(Bytes bytes, const std::string& name);

/// The whole picture in `channels`, 1 or 3, of 8 bits: palettes are looked up, deeper values scaled
/// and alpha left out. Throws Error{io} for a file that is damaged.
Pixels decode_png(Bytes bytes, int channels, const std::string& name);

}  // namespace thalweg::data
