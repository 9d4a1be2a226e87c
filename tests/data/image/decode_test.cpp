#include "data/image/decode.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/writer.h>
#include <thalweg/data/image.h>

#include "base/expect_error.h"
#include "data/formats/base64.h"
#include "data/formats/mutate.h"
#include "data/image/pictures.h"

namespace thalweg::data {
namespace {

using testing::HasSubstr;

std::string file_of(std::string_view base64) { return *decode_base64(base64); }

Tensor decode(const std::string& file, DecodeOptions options = {}) {
  return decode_image(as_bytes(file), options, "f");
}

std::vector<uint8_t> values_of(const Tensor& image) { return image.to_vector<uint8_t>(); }

std::string error_of(const std::string& file) {
  return error_text(ErrorKind::io, [&] { decode(file); });
}

int64_t sum_of(const Tensor& image) {
  int64_t sum = 0;
  for (uint8_t value : values_of(image)) sum += value;
  return sum;
}

// Expected pixels are those of Pillow 13.
TEST(Image, DecodesJpegsToThePixelsThatPillowGives) {
  for (std::string_view picture : {kRamps, kRampsProgressive}) {
    const Tensor image = decode(file_of(picture));
    ASSERT_EQ(image.shape(), Shape({3, 40, 56}));
    const auto values = values_of(image);
    const auto pixel = [&](size_t y, size_t x) {
      return std::vector<int>(
          {values[y * 56 + x], values[2240 + y * 56 + x], values[4480 + y * 56 + x]});
    };
    EXPECT_EQ(pixel(0, 0), std::vector<int>({2, 0, 1}));
    EXPECT_EQ(pixel(20, 30), std::vector<int>({117, 121, 122}));
    EXPECT_EQ(pixel(39, 55), std::vector<int>({222, 231, 226}));
    EXPECT_EQ(sum_of(image), 763323);
    EXPECT_EQ(sum_of(decode(file_of(picture), {.channels = 1})), 256504);
  }
}

TEST(Image, GivesBgrWhenAskedTo) {
  const auto rgb = values_of(decode(file_of(kRamps)));
  const auto bgr = values_of(decode(file_of(kRamps), {.order = ChannelOrder::bgr}));
  for (size_t i = 0; i < 2240; ++i) {
    ASSERT_EQ(bgr[i], rgb[4480 + i]);
    ASSERT_EQ(bgr[4480 + i], rgb[i]);
  }
}

TEST(Image, DecodesPngsOfEveryKind) {
  const Tensor rgb = decode(file_of(kPngRgb));
  ASSERT_EQ(rgb.shape(), Shape({3, 6, 5}));
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 5; ++x)
      ASSERT_EQ(values_of(rgb)[static_cast<size_t>(60 + y * 5 + x)], 2 * x + 3 * y);
  EXPECT_EQ(values_of(decode(file_of(kPngRgba))), values_of(rgb));
  EXPECT_EQ(values_of(decode(file_of(kPngRgb), {.channels = 1})),
            std::vector<uint8_t>({0,  1,  3,  4,  6,  4,  5,  7,  8,  10, 8,  9,  11, 12, 13,
                                  12, 13, 14, 16, 17, 15, 17, 18, 20, 21, 19, 21, 22, 24, 25}));
  const auto palette = values_of(decode(file_of(kPngPalette)));
  EXPECT_EQ(std::vector<uint8_t>(palette.begin(), palette.begin() + 10),
            std::vector<uint8_t>({2, 2, 12, 12, 12, 2, 2, 12, 12, 12}));
  EXPECT_EQ(values_of(decode(file_of(kPngGrey16), {.channels = 1})),
            std::vector<uint8_t>({0, 19, 39, 58, 78, 97, 117, 136, 156, 175, 195, 214}));
  EXPECT_EQ(values_of(decode(file_of(kPngGrey1), {.channels = 1})),
            std::vector<uint8_t>({0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255}));
  EXPECT_EQ(decode(file_of(kPngGrey1)).shape(), Shape({3, 3, 4}));
}

// A JPEG with an Exif segment that holds one entry: tag, type SHORT, count 1, value.
std::string with_exif(const std::string& jpeg, int orientation, bool big_endian = false,
                      size_t cut = 0) {
  MemoryWriter tiff;
  const auto put16 = [&](int v) {
    big_endian ? tiff.write_be(static_cast<uint16_t>(v)) : tiff.write_le(static_cast<uint16_t>(v));
  };
  const auto put32 = [&](int v) {
    big_endian ? tiff.write_be(static_cast<uint32_t>(v)) : tiff.write_le(static_cast<uint32_t>(v));
  };
  tiff.write(std::string_view("Exif\0\0", 6));
  tiff.write(big_endian ? "MM" : "II");
  put16(42);
  put32(8);
  put16(1);
  put16(0x0112);
  put16(3);
  put32(1);
  put16(orientation);
  put16(0);
  put32(0);
  std::string exif(as_text(tiff.bytes()));
  exif.resize(exif.size() - cut);
  MemoryWriter file;
  file.write(jpeg.substr(0, 2));
  file.write("\xff\xe1");
  file.write_be(static_cast<uint16_t>(exif.size() + 2));
  file.write(exif);
  file.write(jpeg.substr(2));
  return std::string(as_text(file.bytes()));
}

// "16x8 0 255": size, then the values of the first and the last pixel.
std::string seen(const std::string& file, DecodeOptions options = {.channels = 1}) {
  const Tensor image = decode(file, options);
  const auto values = values_of(image);
  return fmt::format("{}x{} {} {}", image.shape()[2], image.shape()[1], values.front(),
                     values.back());
}

// tensorflow/tensorflow #8430: the left half is 0, the right one 255.
TEST(Image, TurnsPicturesAsTheirOrientationSays) {
  const std::string file = file_of(kGreyHalves);
  EXPECT_EQ(seen(file), "16x8 0 255");
  for (const bool big_endian : {false, true}) {
    EXPECT_EQ(seen(with_exif(file, 1, big_endian)), "16x8 0 255");
    EXPECT_EQ(seen(with_exif(file, 3, big_endian)), "16x8 255 0");
    EXPECT_EQ(seen(with_exif(file, 5, big_endian)), "8x16 0 255");
    EXPECT_EQ(seen(with_exif(file, 6, big_endian)), "8x16 0 255");
    EXPECT_EQ(seen(with_exif(file, 8, big_endian)), "8x16 255 0");
    EXPECT_EQ(seen(with_exif(file, 0, big_endian)), "16x8 0 255");
    EXPECT_EQ(seen(with_exif(file, 9, big_endian)), "16x8 0 255");
  }
  for (size_t cut = 1; cut < 30; ++cut)
    EXPECT_THAT(seen(with_exif(file, 6, true, cut)), testing::AnyOf("16x8 0 255", "8x16 0 255"));
  EXPECT_EQ(seen(with_exif(file, 6, true, 12)), "16x8 0 255");
  EXPECT_EQ(seen(with_exif(file, 6), {.channels = 1, .upright = false}), "16x8 0 255");
}

TEST(Image, FindsTheBoxOfATurnedPictureInItsFile) {
  Pixels file;
  file.resize(3, 4, 1);
  for (size_t i = 0; i < 12; ++i) file.values[i] = static_cast<uint8_t>(i);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Pixels whole = upright(file, orientation);
    const PixelBox box{1, 1, 2, 1};
    const PixelBox raw = box_in_file(box, orientation, 3, 4);
    Pixels part;
    part.resize(raw.height, raw.width, 1);
    for (int64_t y = 0; y < raw.height; ++y)
      for (int64_t x = 0; x < raw.width; ++x) part.row(y)[x] = file.row(raw.top + y)[raw.left + x];
    const Pixels turned = upright(part, orientation);
    EXPECT_EQ(turned.values, std::vector<uint8_t>({whole.row(1)[1], whole.row(2)[1]}))
        << orientation;
  }
}

// pytorch/vision #3012: ink is inverted as Adobe writes it.
TEST(Image, DecodesCmykAsViewersDo) {
  const auto colour = [](std::string_view picture, bool keeps_adobe = true) {
    std::string file = file_of(picture);
    const size_t adobe = file.find("Adobe") - 4;
    if (!keeps_adobe) file.erase(adobe, 16);
    const auto values = values_of(decode(file));
    return std::vector<int>({values[0], values[64], values[128]});
  };
  EXPECT_EQ(colour(kCmykRed), std::vector<int>({255, 0, 0}));
  EXPECT_EQ(colour(kCmykCyan), std::vector<int>({0, 255, 255}));
  EXPECT_EQ(colour(kCmykBlack), std::vector<int>({0, 0, 0}));
  EXPECT_EQ(colour(kCmykRed, false), std::vector<int>({255, 0, 0}));
}

TEST(Image, DecodesPartsToThePixelsOfTheWhole) {
  for (std::string_view picture : {kRamps, kRampsProgressive}) {
    const std::string file = file_of(picture);
    Philox random(4);
    for (int shrink : {1, 2, 4, 8}) {
      const int64_t height = (40 + shrink - 1) / shrink;
      const int64_t width = (56 + shrink - 1) / shrink;
      const ImagePart whole = decode_jpeg(as_bytes(file), {0, 0, height, width}, shrink, 3, "f");
      ASSERT_EQ(whole.pixels.height, height);
      ASSERT_EQ(whole.pixels.width, width);
      for (int round = 0; round < 200; ++round) {
        PixelBox box;
        box.height = 1 + random.bounded(static_cast<uint32_t>(height));
        box.width = 1 + random.bounded(static_cast<uint32_t>(width));
        box.top = random.bounded(static_cast<uint32_t>(height - box.height + 1));
        box.left = random.bounded(static_cast<uint32_t>(width - box.width + 1));
        const ImagePart part = decode_jpeg(as_bytes(file), box, shrink, 3, "f");
        ASSERT_LE(part.left, box.left);
        for (int64_t y = 0; y < box.height; ++y)
          for (int64_t x = 0; x < 3 * box.width; ++x)
            ASSERT_EQ(part.pixels.row(box.top + y - part.top)[x + 3 * (box.left - part.left)],
                      whole.pixels.row(box.top + y)[x + 3 * box.left])
                << fmt::format("shrink {}, box {} {} {} {}, at {} {}", shrink, box.top, box.left,
                               box.height, box.width, y, x);
      }
    }
  }
}

// pytorch/pytorch #7238: half an image must not pass for a whole one.
TEST(Image, RejectsAJpegThatIsCutButNotOneWithoutItsEndMarker) {
  for (std::string_view picture : {kRamps, kRampsProgressive}) {
    const std::string file = file_of(picture);
    EXPECT_THAT(error_of(file.substr(0, file.size() / 2 + 200)),
                HasSubstr("jpeg: the image ends early; f"));
    const std::string without_end = file.substr(0, file.size() - 2);
    EXPECT_EQ(values_of(decode(without_end)), values_of(decode(file)));
    const ImagePart part = decode_jpeg(as_bytes(without_end), {0, 0, 40, 56}, 1, 3, "f");
    EXPECT_EQ(part.warning, "jpeg: the end marker is missing; f");
  }
  // Whatever part is asked for, a cut file is found out.
  const std::string cut = file_of(kRamps).substr(0, 750);
  EXPECT_THAT(error_text(ErrorKind::io,
                         [&] {
                           decode_jpeg(as_bytes(cut), {0, 0, 4, 4}, 1, 3, "f");
                         }),
              HasSubstr("ends early"));
}

TEST(Image, SaysWhatAFileIsNot) {
  EXPECT_EQ(error_of(""), "decode_image: the file is empty; f");
  EXPECT_EQ(error_of("GIF89a"), "decode_image: neither JPEG nor PNG; f: begins with 47 49");
  EXPECT_THAT(error_of(file_of(kPngRgb).substr(0, 60)),
              HasSubstr("png: the image is damaged; f: "));
  EXPECT_THAT(error_of(file_of(kRamps).substr(0, 100)), HasSubstr("jpeg: "));
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { decode(file_of(kRamps), {.channels = 4}); }),
              HasSubstr("4 channels"));
}

TEST(Image, RefusesAGiantBeforeItTakesMemory) {
  std::string jpeg = file_of(kRamps);
  const size_t frame = jpeg.find("\xff\xc0");
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_EQ(error_of(jpeg),
            "decode_image: the picture is too large; f: 65500 x 65500 pixels, at most 268435456 in "
            "all");
}

TEST(Image, SurvivesMutatedFiles) {
  const auto read = [](const std::string& file) {
    const ImageSize size = size_of_image(as_bytes(file), {}, "f");
    if (size.height * size.width < 1 << 16) decode(file);
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("picture"), 2100, 8, read), 1000);
}

}  // namespace
}  // namespace thalweg::data
