#pragma once

#include <cstdint>
#include <string>

#include "data/image/pixels.h"

namespace thalweg::data {

struct ImageSize {
  int64_t height = 0;  // of the file's pixels, before its orientation
  int64_t width = 0;
  int orientation = 1;
};

/// Pixels of a part of a picture, and where the part lies.
struct ImagePart {
  Pixels pixels;
  int64_t top = 0;
  int64_t left = 0;
  std::string warning = {};  // "" if nothing is odd
};

bool is_jpeg(Bytes start);

/// Reads the header only. Throws Error{io}, naming `name`, for what is no JPEG, and
/// Error{unavailable} where Thalweg was built without libjpeg.
ImageSize jpeg_size(Bytes bytes, const std::string& name);

/// Pixels of `box` (in the file's own orientation) of the picture, which is first made smaller by
/// 1 / `shrink`: 1, 2, 4 or 8. `box` is in pixels of the small picture, of ceil(size / shrink);
/// what is returned holds it and may be larger, and its pixels do not depend on `box`. `channels`
/// is 1 or 3; CMYK and YCCK become colours by Adobe's rule, in which 255 is no ink. A file that is
/// damaged before the end of `box`, or ends early, is an Error{io}; one that lacks only its end
/// marker is read with a warning.
ImagePart decode_jpeg(Bytes bytes, const PixelBox& box, int shrink, int channels,
                      const std::string& name);

}  // namespace thalweg::data
