#pragma once

#include <string>

#include <thalweg/data/image.h>

#include "data/image/jpeg.h"

namespace thalweg::data {

/// The size of the picture in `bytes` with its orientation. Throws as decode_image.
ImageSize size_of_image(Bytes bytes, const DecodeOptions& options, const std::string& name);

/// The whole picture, upright, as pixels side by side.
ImagePart decode_whole(Bytes bytes, const ImageSize& size, const DecodeOptions& options,
                       const std::string& name);

}  // namespace thalweg::data
