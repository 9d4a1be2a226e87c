#include "train/png.h"

#include <zlib.h>

#include <thalweg/base/checksum.h>

#include "base/fail.h"

namespace thalweg::train {
namespace {

constexpr int64_t kMaxSide = 1 << 15;

void append_u32(std::string& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
}

// A chunk is length, type, data and the CRC-32 of the last two (PNG specification, 5.3).
void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append_u32(png, static_cast<uint32_t>(data.size()));
  const size_t start = png.size();
  png.append(type).append(data);
  append_u32(png, crc32(as_bytes(std::string_view(png).substr(start))));
}

std::string header(int64_t height, int64_t width, int64_t channels) {
  std::string bytes;
  append_u32(bytes, static_cast<uint32_t>(width));
  append_u32(bytes, static_cast<uint32_t>(height));
  bytes += '\x08';                           // bits a channel
  bytes += channels == 1 ? '\x00' : '\x02';  // grey or RGB
  bytes.append(3, '\0');                     // deflate, filters by row, not interlaced
  return bytes;
}

// Each row begins with its filter: 0, none.
std::string filtered_rows(std::span<const uint8_t> pixels, int64_t height, int64_t row_bytes) {
  std::string rows;
  rows.reserve(static_cast<size_t>(height * (row_bytes + 1)));
  for (int64_t y = 0; y < height; ++y) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(pixels.data()) + y * row_bytes,
                static_cast<size_t>(row_bytes));
  }
  return rows;
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(data.data()), data.size(), 9);
  if (status != Z_OK)
    fail(ErrorKind::internal, "encode_png: zlib's compress2 failed; status {}", status);
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(std::span<const uint8_t> pixels, int64_t height, int64_t width,
                       int64_t channels) {
  if (channels != 1 && channels != 3)
    fail_invalid("encode_png: {} channels; give 1 (grey) or 3 (RGB)", channels);
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide)
    fail_invalid("encode_png: an image of {} x {} pixels; each side must be 1 to {}", height, width,
                 kMaxSide);
  if (pixels.size() != static_cast<size_t>(height * width * channels))
    fail_invalid("encode_png: {} bytes do not fill an image of [{}, {}, {}]", pixels.size(), height,
                 width, channels);
  std::string png("\x89PNG\r\n\x1a\n");
  append_chunk(png, "IHDR", header(height, width, channels));
  append_chunk(png, "IDAT", deflated(filtered_rows(pixels, height, width * channels)));
  append_chunk(png, "IEND", {});
  return png;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < group.size() ? static_cast<uint8_t>(group[k]) : 0U);
    for (size_t k = 0; k < 4; ++k)
      text += k <= group.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace thalweg::train
