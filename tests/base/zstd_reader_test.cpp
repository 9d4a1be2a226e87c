#include "base/zstd_reader.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/philox.h>

#include "base/expect_error.h"
#include "base/hex.h"

namespace thalweg {
namespace {

// `zstd` of "hello\n" and of 300,000 bytes 'a'.
const std::string kHello = from_hex("28b52ffd045831000068656c6c6f0a5388bd91");
const std::string kRun = from_hex("28b52ffd04585400001061610100fbff39c00202001061039f04618d5f04a6");

// "" where Thalweg was built without zstd.
std::string unpacked(const std::string& packed) {
  const auto reader = open_reader(as_bytes(packed), "f");
  std::string all;
  std::byte piece[1000];
  for (size_t n; (n = reader->read_some(piece)) > 0;) all += as_text(Bytes(piece, n));
  return all;
}

bool has_zstd() {
  try {
    unpacked(kHello);
    return true;
  } catch (const Error& error) {
    return error.kind() != ErrorKind::unavailable;
  }
}

TEST(ZstdReader, UnpacksFramesOneAfterTheOther) {
  if (!has_zstd()) GTEST_SKIP() << "built without zstd";
  EXPECT_EQ(unpacked(kHello), "hello\n");
  EXPECT_EQ(unpacked(kRun), std::string(300000, 'a'));
  EXPECT_EQ(unpacked(kHello + kRun + kHello), "hello\n" + std::string(300000, 'a') + "hello\n");
}

TEST(ZstdReader, SaysWhereAFrameIsCutOrDamaged) {
  if (!has_zstd()) GTEST_SKIP() << "built without zstd";
  for (size_t size = 5; size < kHello.size(); ++size) {
    EXPECT_THAT(error_text(ErrorKind::io, [&] { unpacked(kHello.substr(0, size)); }),
                testing::HasSubstr("data end inside the frame; f in the frame at byte 0"))
        << size;
  }
  std::string damaged = kRun + kHello;
  damaged.back() ^= 1;
  EXPECT_THAT(error_text(ErrorKind::io, [&] { unpacked(damaged); }),
              testing::HasSubstr("in the frame at byte " + std::to_string(kRun.size())));
}

TEST(ZstdReader, SurvivesMutatedFiles) {
  if (!has_zstd()) GTEST_SKIP() << "built without zstd";
  Philox random(3);
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = kHello + kRun;
    bytes[4 + random.bounded(static_cast<uint32_t>(bytes.size() - 4))] =
        static_cast<char>(random.bounded(256));
    try {
      unpacked(bytes);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::io);
      ++errors;
    }
  }
  EXPECT_GT(errors, 2000);
}

}  // namespace
}  // namespace thalweg
