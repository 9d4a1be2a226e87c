#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/reader.h>
#include <thalweg/base/writer.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg {
namespace {

TEST(Reader, ReadsNumbersInBothOrdersAndCountsBytes) {
  MemoryWriter writer;
  writer.write_be<uint32_t>(0x803);
  writer.write_le<int16_t>(-2);
  writer.write_le(1.5f);
  writer.write("ab");
  EXPECT_EQ(writer.offset(), 12u);

  MemoryReader reader(writer.bytes(), "memory");
  EXPECT_EQ(reader.remaining(), 12u);
  EXPECT_EQ(reader.read_be<uint32_t>(), 0x803u);
  EXPECT_EQ(reader.offset(), 4u);
  EXPECT_EQ(reader.read_le<int16_t>(), -2);
  EXPECT_EQ(reader.read_le<float>(), 1.5f);
  EXPECT_EQ(reader.remaining(), 2u);
  EXPECT_FALSE(reader.at_end());
  EXPECT_EQ(reader.read_string(2), "ab");
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.where(), "memory at byte 12");
}

TEST(Reader, AnEarlyEndIsAnErrorWithPlaceExpectedAndFound) {
  const Bytes bytes = as_bytes("12345");
  MemoryReader number(bytes, "f");
  number.skip(2);
  EXPECT_EQ(error_text(ErrorKind::io, [&] { number.read_le<uint64_t>(); }),
            "read: data end early; f at byte 2: expected 8 bytes, found 3");
  MemoryReader text(bytes, "f");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { text.read_string(6); }),
            "read: data end early; f at byte 0: expected 6 bytes, found 5");
  MemoryReader gap(bytes, "f");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { gap.skip(7); }),
            "read: data end early; f at byte 0: expected 7 bytes, found 5");
}

TEST(Reader, AWrongSizeTakesNoMemory) {
  MemoryReader reader(as_bytes("12345"), "f");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { reader.read_string(uint64_t{1} << 60); }),
            "read: data end early; f at byte 0: expected 1152921504606846976 bytes, found 5");
}

TEST(Reader, SplitsLinesAtLfAndCrLf) {
  MemoryReader reader(as_bytes("one\r\ntwo\n\nfo\rur"), "f");
  std::string line;
  for (const char* expected : {"one", "two", "", "fo\rur"}) {
    ASSERT_TRUE(reader.read_line(line));
    EXPECT_EQ(line, expected);
  }
  EXPECT_FALSE(reader.read_line(line));
}

TEST(Reader, RefusesALineThatIsTooLong) {
  MemoryReader reader(as_bytes("ok\n1234\n"), "f");
  std::string line;
  EXPECT_TRUE(reader.read_line(line, 3));
  EXPECT_EQ(error_text(ErrorKind::io, [&] { reader.read_line(line, 3); }),
            "read: line is longer than 3 bytes; f at byte 3");
}

TEST(Reader, ReadsFilesAcrossItsBuffer) {
  const TempDir dir;
  std::string content;
  for (int i = 0; content.size() < 1000000; ++i) content += std::to_string(i) + "\n";
  const std::string path = dir.write("f", content);

  const auto lines = open_reader(path);
  EXPECT_EQ(lines->remaining(), content.size());
  std::string line;
  int next = 0;
  while (lines->read_line(line)) ASSERT_EQ(line, std::to_string(next++));
  EXPECT_EQ(lines->offset(), content.size());

  const auto whole = open_reader(path);
  EXPECT_EQ(whole->read_string(content.size()), content);
  EXPECT_TRUE(whole->at_end());
  EXPECT_EQ(whole->name(), path);
}

TEST(Reader, AnEmptyFileIsAtItsEnd) {
  const TempDir dir;
  const auto reader = open_reader(dir.write("f", ""));
  EXPECT_TRUE(reader->at_end());
  EXPECT_EQ(reader->read_string(0), "");
}

}  // namespace
}  // namespace thalweg
