#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

#include <thalweg/base/reader.h>

#include "base/expect_error.h"
#include "base/hex.h"
#include "base/temp_dir.h"

namespace thalweg {
namespace {

// IDX labels 1 2 in the first member, 3 4 5 in the second; 30 and 23 bytes.
const std::string kFirst = from_hex("1f8b08000000000002036360e0606460606065640200f1eac6670a000000");
const std::string kSecond = from_hex("1f8b08000000000002036366610500c05601e903000000");
const std::string kUnpacked = from_hex("00000801000000050102030405");

std::string unpack(const std::string& packed) {
  const auto reader = open_reader(as_bytes(packed), "f.gz");
  std::string unpacked;
  while (!reader->at_end()) unpacked += reader->read_string(1);
  return unpacked;
}

std::string pack(const std::string& content) {
  std::string packed(compressBound(content.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(GzipReader, ReadsAllMembersAsOne) { EXPECT_EQ(unpack(kFirst + kSecond), kUnpacked); }

TEST(GzipReader, AcceptsZerosAfterTheLastMember) {
  EXPECT_EQ(unpack(kFirst + kSecond + std::string(8, '\0')), kUnpacked);
}

TEST(GzipReader, AMemberCutAnywhereIsAnErrorWithItsOffset) {
  for (size_t size = 1; size < kSecond.size(); ++size) {
    const std::string text =
        error_text(ErrorKind::io, [&] { unpack(kFirst + kSecond.substr(0, size)); });
    EXPECT_NE(text.find("gunzip: data end inside the member; f.gz in the gzip member at byte 30"),
              std::string::npos)
        << text;
  }
}

TEST(GzipReader, AWrongChecksumOrLengthIsAnErrorWithTheMembersOffset) {
  for (size_t from_end : {1, 4, 5, 8}) {
    std::string packed = kFirst + kSecond;
    packed[packed.size() - from_end] ^= 1;
    const std::string text = error_text(ErrorKind::io, [&] { unpack(packed); });
    EXPECT_NE(text.find("in the gzip member at byte 30, after 13 unpacked bytes"),
              std::string::npos)
        << text;
  }
}

// A flipped bit of the header may name another time or system; then the content is as before. In
// the magic number it makes a plain file of it.
TEST(GzipReader, NoFlippedBitGivesOtherContent) {
  for (size_t bit = 16; bit < 8 * (kFirst.size() + kSecond.size()); ++bit) {
    std::string packed = kFirst + kSecond;
    packed[bit / 8] = static_cast<char>(packed[bit / 8] ^ (1 << bit % 8));
    try {
      EXPECT_EQ(unpack(packed), kUnpacked) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
    }
  }
}

TEST(GzipReader, RefusesOtherDataAfterAMember) {
  error_text(ErrorKind::io, [] { unpack(kFirst + "PK"); });
}

TEST(GzipReader, IsChosenByContentNotByName) {
  const TempDir dir;
  EXPECT_EQ(open_reader(dir.write("plain.gz", "abc"))->read_string(3), "abc");
  EXPECT_EQ(open_reader(dir.write("packed", kFirst + kSecond))->read_string(13), kUnpacked);
  EXPECT_EQ(open_reader(dir.write("short", "\x1f"))->read_string(1), "\x1f");
}

TEST(GzipReader, UnpacksMoreThanItsBuffers) {
  std::string content;
  for (int64_t i = 0; content.size() < 3000000; ++i) content += std::to_string(i * 7919);
  const TempDir dir;
  const auto reader = open_reader(dir.write("f.gz", pack(content) + pack(content)));
  EXPECT_EQ(reader->remaining(), std::nullopt);
  EXPECT_EQ(reader->read_string(content.size()), content);
  EXPECT_EQ(reader->read_string(content.size()), content);
  EXPECT_TRUE(reader->at_end());
  EXPECT_EQ(reader->offset(), 2 * content.size());
}

TEST(GzipReader, AWrongSizeTakesNoMoreMemoryThanTheData) {
  const auto reader = open_reader(as_bytes(kFirst), "f.gz");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { reader->read_string(uint64_t{1} << 50); }),
            "read: data end early; f.gz at byte 0: expected 1125899906842624 bytes, found 10");
}

}  // namespace
}  // namespace thalweg
