#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/checksum.h>

namespace thalweg {
namespace {

// The check values of the catalogues of CRC algorithms.
TEST(Checksum, GivesTheCheckValuesOfBothKinds) {
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xCBF43926u);
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32({}), 0u);
  EXPECT_EQ(crc32c({}), 0u);
}

// RFC 3720, B.4.
TEST(Checksum, GivesTheCrc32cOfIscsisExamples) {
  EXPECT_EQ(crc32c(as_bytes(std::string(32, '\0'))), 0x8A9136AAu);
  EXPECT_EQ(crc32c(as_bytes(std::string(32, '\xff'))), 0x62A8AB43u);
  std::string rising(32, '\0');
  std::iota(rising.begin(), rising.end(), '\0');
  EXPECT_EQ(crc32c(as_bytes(rising)), 0x46DD794Eu);
}

TEST(Checksum, GoesOnWhereItStopped) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string_view head = std::string_view(text).substr(0, cut);
    const std::string_view tail = std::string_view(text).substr(cut);
    EXPECT_EQ(crc32(as_bytes(tail), crc32(as_bytes(head))), crc32(as_bytes(text)));
    EXPECT_EQ(crc32c(as_bytes(tail), crc32c(as_bytes(head))), crc32c(as_bytes(text)));
  }
}

}  // namespace
}  // namespace thalweg
