#include "data/image/exif.h"

#include <cstdint>

namespace thalweg::data {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShort = 3;  // the type of its value
constexpr size_t kEntry = 12;

}  // namespace

int exif_orientation(Bytes app1) {
  if (!as_text(app1).starts_with(std::string_view("Exif\0\0", 6))) return 1;
  const Bytes tiff = app1.subspan(6);
  if (tiff.size() < 8) return 1;
  const std::string_view order = as_text(tiff.first(2));
  if (order != "II" && order != "MM") return 1;
  const bool is_big = order == "MM";
  const auto u16 = [&](size_t at) {
    return is_big ? load_be<uint16_t>(tiff.data() + at) : load_le<uint16_t>(tiff.data() + at);
  };
  const size_t directory =
      is_big ? load_be<uint32_t>(tiff.data() + 4) : load_le<uint32_t>(tiff.data() + 4);
  if (directory > tiff.size() - 2) return 1;
  const size_t entries = u16(directory);
  for (size_t i = 0; i < entries; ++i) {
    const size_t at = directory + 2 + i * kEntry;
    if (at + kEntry > tiff.size()) return 1;
    if (u16(at) != kOrientationTag) continue;
    const int value = u16(at + 8);
    return u16(at + 2) == kShort && value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

}  // namespace thalweg::data
