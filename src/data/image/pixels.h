#pragma once

#include <cstdint>
#include <vector>

#include <thalweg/base/bytes.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::data {

/// Pixels row by row, the channels of each side by side.
struct Pixels {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;
  std::vector<uint8_t> values = {};

  void resize(int64_t new_height, int64_t new_width, int new_channels);
  uint8_t* row(int64_t y) { return values.data() + y * width * channels; }
  const uint8_t* row(int64_t y) const { return values.data() + y * width * channels; }
};

/// Rows [top, top + height), columns [left, left + width).
struct PixelBox {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;

  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

/// How the pixels lie in the file: Exif's tag 0x0112, 1 to 8. From 5 on, rows and columns are
/// exchanged.
inline bool swaps_axes(int orientation) { return orientation >= 5; }

/// The pixels as a viewer shows them.
Pixels upright(const Pixels& pixels, int orientation);

/// Where in the file's pixels, of this size, a box of the upright picture lies.
PixelBox box_in_file(const PixelBox& box, int orientation, int64_t file_height, int64_t file_width);

/// The same for edges between pixels.
struct EdgeBox {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
};

/// Where in the upright picture a box of the file's pixels, of this size, lies.
EdgeBox box_upright(EdgeBox box, int orientation, int64_t file_height, int64_t file_width);

/// Three channels become one, L = (19595 R + 38470 G + 7471 B + 32768) >> 16 (ITU-R BT.601, in
/// Pillow's integers).
void make_grey(Pixels& pixels);

/// One channel becomes three equal ones.
void make_colour(Pixels& pixels);

/// u8 [channels, height, width]; `reversed` gives the channels in reverse order, i.e. BGR.
Tensor to_planes(const Pixels& pixels, bool reversed);

}  // namespace thalweg::data
