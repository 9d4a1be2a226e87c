#include "data/image/decode.h"

#include <thalweg/base/file.h>

#include "base/fail.h"
#include "base/log_format.h"
#include "data/image/png.h"

namespace thalweg::data {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 28;

void check_channels(const DecodeOptions& options) {
  if (options.channels != 1 && options.channels != 3)
    fail_invalid("decode_image: {} channels; there may be 1 or 3", options.channels);
}

}  // namespace

bool is_jpeg(Bytes start) { return as_text(start).starts_with("\xff\xd8\xff"); }

bool is_png(Bytes start) {
  return as_text(start).starts_with(std::string_view("\x89PNG\r\n\x1a\n", 8));
}

ImageSize size_of_image(Bytes bytes, const DecodeOptions& options, const std::string& name) {
  check_channels(options);
  if (bytes.empty()) fail_io("decode_image: the file is empty; {}", name);
  if (!is_jpeg(bytes) && !is_png(bytes)) {
    fail_io("decode_image: neither JPEG nor PNG; {}: begins with {:02X} {:02X}", name,
            static_cast<int>(bytes[0]), bytes.size() > 1 ? static_cast<int>(bytes[1]) : 0);
  }
  ImageSize size = is_jpeg(bytes) ? jpeg_size(bytes, name) : png_size(bytes, name);
  if (size.height > kMaxPixels / size.width) {
    fail_io("decode_image: the picture is too large; {}: {} x {} pixels, at most {} in all", name,
            size.width, size.height, kMaxPixels);
  }
  if (!options.upright) size.orientation = 1;
  return size;
}

ImagePart decode_whole(Bytes bytes, const ImageSize& size, const DecodeOptions& options,
                       const std::string& name) {
  const int channels = static_cast<int>(options.channels);
  ImagePart part;
  if (is_jpeg(bytes))
    part = decode_jpeg(bytes, {0, 0, size.height, size.width}, 1, channels, name);
  else
    part.pixels = decode_png(bytes, channels, name);
  if (size.orientation != 1) part.pixels = upright(part.pixels, size.orientation);
  return part;
}

ImageWindow decode_part(Bytes bytes, const ImageSize& size, const Window& window,
                        const DecodeOptions& options, const std::string& name) {
  const PixelBox& part = window.part;
  if (!is_jpeg(bytes)) {
    ImagePart whole = decode_whole(bytes, size, options, name);
    return {std::move(whole.pixels),
            {static_cast<double>(part.top), static_cast<double>(part.left),
             static_cast<double>(part.height), static_cast<double>(part.width)}};
  }
  int shrink = window.interpolation == Interpolation::nearest ? 1 : 8;
  while (shrink > 1 &&
         (part.height < shrink * window.inner_height || part.width < shrink * window.inner_width))
    shrink /= 2;
  const PixelBox box = box_in_file(part, size.orientation, size.height, size.width);
  const auto up = [&](int64_t pixels) { return (pixels + shrink - 1) / shrink; };
  PixelBox small{box.top / shrink, box.left / shrink, 0, 0};
  small.height = up(box.top + box.height) - small.top;
  small.width = up(box.left + box.width) - small.left;
  ImagePart found = decode_jpeg(bytes, small, shrink, static_cast<int>(options.channels), name);
  const double by = 1.0 / shrink;
  EdgeBox edges{static_cast<double>(box.top) * by - static_cast<double>(found.top),
                static_cast<double>(box.left) * by - static_cast<double>(found.left),
                static_cast<double>(box.height) * by, static_cast<double>(box.width) * by};
  if (size.orientation != 1) {
    edges = box_upright(edges, size.orientation, found.pixels.height, found.pixels.width);
    found.pixels = upright(found.pixels, size.orientation);
  }
  return {std::move(found.pixels), edges, std::move(found.warning)};
}

Tensor decode_image(Bytes bytes, const DecodeOptions& options, const std::string& name) {
  const ImagePart part = decode_whole(bytes, size_of_image(bytes, options, name), options, name);
  if (!part.warning.empty()) log_warn("{}", part.warning);
  return to_planes(part.pixels, options.order == ChannelOrder::bgr);
}

Tensor read_image(const std::string& path, const DecodeOptions& options) {
  const std::string bytes = read_file(path);
  return decode_image(as_bytes(bytes), options, path);
}

}  // namespace thalweg::data
