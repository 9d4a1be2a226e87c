#pragma once

#include <string>

#include <thalweg/data/image.h>

#include "data/image/jpeg.h"
#include "data/image/window_step.h"

namespace thalweg::data {

/// The size of the picture in `bytes` with its orientation. Throws as decode_image.
ImageSize size_of_image(Bytes bytes, const DecodeOptions& options, const std::string& name);

/// The whole picture, upright, as pixels side by side.
ImagePart decode_whole(Bytes bytes, const ImageSize& size, const DecodeOptions& options,
                       const std::string& name);

/// Upright pixels that hold a part of a picture, and where in them it lies.
struct ImageWindow {
  Pixels pixels;
  EdgeBox part;
  std::string warning = {};
};

/// The pixels that a window needs, no more than it must; a JPEG is made smaller while it is decoded
/// as far as the window's part stays as large as what it becomes.
ImageWindow decode_part(Bytes bytes, const ImageSize& size, const Window& window,
                        const DecodeOptions& options, const std::string& name);

}  // namespace thalweg::data
