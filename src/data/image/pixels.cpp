#include "data/image/pixels.h"

#include <algorithm>
#include <utility>

#include "data/image/resample_rows.h"

namespace thalweg::data {
namespace {

bool is_mirrored(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}
bool is_upside_down(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}

}  // namespace

void Pixels::resize(int64_t new_height, int64_t new_width, int new_channels) {
  height = new_height;
  width = new_width;
  channels = new_channels;
  values.resize(static_cast<size_t>(height * width) * static_cast<size_t>(channels));
}

Pixels upright(const Pixels& pixels, int orientation) {
  const bool swaps = swaps_axes(orientation);
  const bool mirrored = is_mirrored(orientation);
  const bool upside_down = is_upside_down(orientation);
  Pixels out;
  out.resize(swaps ? pixels.width : pixels.height, swaps ? pixels.height : pixels.width,
             pixels.channels);
  const auto n = static_cast<size_t>(pixels.channels);
  for (int64_t y = 0; y < out.height; ++y) {
    uint8_t* to = out.row(y);
    for (int64_t x = 0; x < out.width; ++x, to += n) {
      const int64_t file_y = swaps ? x : y;
      const int64_t file_x = swaps ? y : x;
      const int64_t from_y = upside_down ? pixels.height - 1 - file_y : file_y;
      const int64_t from_x = mirrored ? pixels.width - 1 - file_x : file_x;
      std::copy_n(pixels.row(from_y) + static_cast<size_t>(from_x) * n, n, to);
    }
  }
  return out;
}

PixelBox box_in_file(const PixelBox& box, int orientation, int64_t file_height,
                     int64_t file_width) {
  PixelBox in = box;
  if (swaps_axes(orientation)) {
    std::swap(in.top, in.left);
    std::swap(in.height, in.width);
  }
  const bool mirrored = is_mirrored(orientation);
  const bool upside_down = is_upside_down(orientation);
  if (mirrored) in.left = file_width - in.left - in.width;
  if (upside_down) in.top = file_height - in.top - in.height;
  return in;
}

EdgeBox box_upright(EdgeBox box, int orientation, int64_t file_height, int64_t file_width) {
  if (is_mirrored(orientation)) box.left = static_cast<double>(file_width) - box.left - box.width;
  if (is_upside_down(orientation))
    box.top = static_cast<double>(file_height) - box.top - box.height;
  if (swaps_axes(orientation)) {
    std::swap(box.top, box.left);
    std::swap(box.height, box.width);
  }
  return box;
}

void make_grey(Pixels& pixels) {
  const uint8_t* from = pixels.values.data();
  uint8_t* to = pixels.values.data();
  const auto count = static_cast<size_t>(pixels.height * pixels.width);
  for (size_t i = 0; i < count; ++i, from += 3)
    to[i] = static_cast<uint8_t>((19595u * from[0] + 38470u * from[1] + 7471u * from[2] + 32768u) >>
                                 16);
  pixels.channels = 1;
  pixels.values.resize(count);
}

void make_colour(Pixels& pixels) {
  const auto count = static_cast<size_t>(pixels.height * pixels.width);
  pixels.values.resize(3 * count);
  pixels.channels = 3;
  uint8_t* values = pixels.values.data();
  for (size_t i = count; i-- > 0;) {
    const uint8_t grey = values[i];
    for (size_t c = 0; c < 3; ++c) values[3 * i + c] = grey;
  }
}

Tensor to_planes(const Pixels& pixels, bool reversed) {
  const auto count = static_cast<size_t>(pixels.height * pixels.width);
  Tensor planes =
      Tensor::empty({pixels.channels, pixels.height, pixels.width}, {.dtype = DType::u8});
  auto* out = planes.impl()->as<uint8_t>();
  if (pixels.channels == 3)
    split_pixels3(pixels.values.data(), out + (reversed ? 2 : 0) * count, out + count,
                  out + (reversed ? 0 : 2) * count, count);
  else
    std::ranges::copy(pixels.values, out);
  return planes;
}

}  // namespace thalweg::data
