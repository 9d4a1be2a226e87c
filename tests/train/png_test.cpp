#include "train/png.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <thalweg/base/error.h>

namespace thalweg::train {
namespace {

using namespace std::string_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// The data of the one IDAT chunk, which follows the signature (8 bytes) and IHDR (25).
std::string image_rows(const std::string& png, size_t size) {
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(png[at])); };
  const size_t length = byte(33) << 24 | byte(34) << 16 | byte(35) << 8 | byte(36);
  std::string rows(size, '\0');
  uLongf got = size;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &got,
                       reinterpret_cast<const Bytef*>(png.data() + 41), length),
            Z_OK);
  EXPECT_EQ(got, size);
  return rows;
}

TEST(EncodePng, BeginsAndEndsAsTheSpecificationSays) {
  const std::vector<uint8_t> pixels(6, 7);
  const std::string png = encode_png(pixels, 2, 3, 1);
  // Signature; IHDR of 13 bytes: width 3, height 2, 8 bits, grey. The CRCs are from Python's zlib.
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02\x08\0\0\0\0"s
                              "\xb8\x1f\x39\xc6"s));
  EXPECT_THAT(png, EndsWith("\0\0\0\0IEND\xae\x42\x60\x82"s));
}

TEST(EncodePng, KeepsRowsOfRgbInOrder) {
  const std::vector<uint8_t> pixels{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(image_rows(encode_png(pixels, 2, 2, 3), 14),
            "\0\x01\x02\x03\x04\x05\x06\0\x07\x08\x09\x0a\x0b\x0c"s);
}

TEST(EncodePng, RejectsWhatIsNoImage) {
  const std::vector<uint8_t> pixels(6);
  EXPECT_THROW(encode_png(pixels, 2, 3, 2), Error);
  EXPECT_THROW(encode_png(pixels, 0, 3, 1), Error);
  EXPECT_THROW(encode_png(pixels, 1, 1 << 20, 1), Error);
  try {
    encode_png(pixels, 2, 2, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("6 bytes do not fill an image of [2, 2, 1]"));
  }
}

TEST(Base64, GivesTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace thalweg::train
