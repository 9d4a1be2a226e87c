#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <thalweg/base/philox.h>
#include <thalweg/data/idx.h>
#include <thalweg/device/memory.h>

#include "base/expect_error.h"
#include "base/hex.h"
#include "base/temp_dir.h"
#include "data/formats/mutate.h"

namespace thalweg::data {
namespace {

Tensor parse(const std::string& content) { return read_idx(as_bytes(content), "f"); }

std::string error_of(const std::string& content) {
  return error_text(ErrorKind::io, [&] { parse(content); });
}

std::string gzip(const std::string& content) {
  const std::string path = testing::TempDir() + "thalweg-idx-test.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Idx, ReadsEveryElementTypeHighestByteFirst) {
  const Tensor u8 =
      parse(from_hex("00000802"
                     "00000002"
                     "00000003"
                     "010203fdfeff"));
  EXPECT_EQ(u8.shape(), Shape({2, 3}));
  EXPECT_EQ(u8.to_vector<uint8_t>(), std::vector<uint8_t>({1, 2, 3, 253, 254, 255}));
  EXPECT_EQ(parse(from_hex("00000901"
                           "00000002"
                           "80ff"))
                .to_vector<int8_t>(),
            std::vector<int8_t>({-128, -1}));
  EXPECT_EQ(parse(from_hex("00000b01"
                           "00000002"
                           "0102fffe"))
                .to_vector<int16_t>(),
            std::vector<int16_t>({258, -2}));
  EXPECT_EQ(parse(from_hex("00000c01"
                           "00000001"
                           "01020304"))
                .to_vector<int32_t>(),
            std::vector<int32_t>({16909060}));
  EXPECT_EQ(parse(from_hex("00000d01"
                           "00000002"
                           "3fc00000c0490fdb"))
                .to_vector<float>(),
            std::vector<float>({1.5f, -3.14159274f}));
  EXPECT_EQ(parse(from_hex("00000e01"
                           "00000001"
                           "400921fb54442d18"))
                .to_vector<double>(),
            std::vector<double>({3.141592653589793}));
}

TEST(Idx, ReadsNoDimensionsAndNoElements) {
  EXPECT_EQ(parse(from_hex("0000080007")).item<int>(), 7);
  EXPECT_EQ(parse(from_hex("00000c02"
                           "00000000"
                           "00000005"))
                .shape(),
            Shape({0, 5}));
}

TEST(Idx, RejectsAWrongMagicNumberWithFileAndOffset) {
  EXPECT_EQ(error_of(from_hex("00010801"
                              "00000001"
                              "07")),
            "read_idx: wrong magic number; f at byte 0: expected 00 00, then 08, 09, 0B, 0C, 0D or "
            "0E, found 00 01 08 01; is it an IDX file?");
  EXPECT_THAT(error_of(from_hex("00000a01"
                                "00000001"
                                "07")),
              testing::HasSubstr("00 00 0A 01"));
  EXPECT_EQ(error_of(from_hex("00000809")),
            "read_idx: too many dimensions; f at byte 3: expected at most 8, found 9");
}

TEST(Idx, RejectsMissingAndSuperfluousBytes) {
  EXPECT_EQ(error_of(""), "read: data end early; f at byte 0: expected 4 bytes, found 0");
  EXPECT_EQ(error_of(from_hex("00000802"
                              "0000")),
            "read: data end early; f at byte 4: expected 4 bytes, found 2");
  EXPECT_EQ(
      error_of(from_hex("00000802"
                        "00000002"
                        "00000003"
                        "0102030405")),
      "read_idx: size differs from the header's; f at byte 12: expected 6 bytes for u8 [2, 3], "
      "found 5");
  EXPECT_EQ(error_of(from_hex("00000801"
                              "00000002"
                              "010203")),
            "read_idx: size differs from the header's; f at byte 8: expected 2 bytes for u8 [2], "
            "found 3");
  EXPECT_EQ(
      error_of(gzip(from_hex("00000801"
                             "00000002"
                             "010203"))),
      "read_idx: data go on after the last element; f at byte 10: expected 2 bytes for u8 [2]");
  EXPECT_EQ(error_of(gzip(from_hex("00000801"
                                   "00000005"
                                   "010203"))),
            "read: data end early; f at byte 8: expected 5 bytes, found 3");
}

TEST(Idx, ChecksSizesBeforeItTakesMemory) {
  reset_peak_memory();
  const size_t before = memory_stats().peak_live;
  const std::string header = from_hex(
      "00000e03"
      "ffffffff"
      "ffffffff"
      "00000003");
  EXPECT_THAT(error_of(header), testing::HasSubstr("sizes [4294967295, 4294967295"));
  const std::string large = from_hex(
      "00000803"
      "0000ffff"
      "0000ffff"
      "00000010");
  EXPECT_THAT(error_of(large), testing::HasSubstr("expected 68717379600 bytes"));
  EXPECT_THAT(error_of(gzip(large)), testing::HasSubstr("found at most"));
  EXPECT_LT(memory_stats().peak_live, before + (1 << 20));
}

// madler/zlib #984: a file of several gzip members, as `cat a.gz b.gz` makes.
TEST(Idx, ReadsGzipFilesOfSeveralMembers) {
  const std::string first =
      from_hex("1f8b08000000000002036360e0606460606065640200f1eac6670a000000");
  const std::string second = from_hex("1f8b08000000000002036366610500c05601e903000000");
  const std::vector<uint8_t> labels = {1, 2, 3, 4, 5};
  EXPECT_EQ(parse(first + second).to_vector<uint8_t>(), labels);
  EXPECT_EQ(parse(first + second + std::string(8, '\0')).to_vector<uint8_t>(), labels);
  EXPECT_THAT(error_of(first + second.substr(0, 12)), testing::HasSubstr("byte 30"));
  std::string wrong_crc = first + second;
  wrong_crc[first.size() + 15] ^= 1;
  EXPECT_THAT(error_of(wrong_crc), testing::HasSubstr("byte 30"));
}

TEST(Idx, WritesWhatItReads) {
  const TempDir dir;
  const Tensor tensors[] = {Tensor::of<uint8_t>({1, 2, 3, 4, 5, 6}, {2, 3}),
                            Tensor::of<int8_t>({-1, 0}),
                            Tensor::of<int16_t>({-300, 300}),
                            Tensor::of<int32_t>({-70000, 1}, {2, 1, 1}),
                            Tensor::of<float>({0.1f, -1e30f}),
                            Tensor::of<double>({1e-300})};
  for (const Tensor& tensor : tensors) {
    write_idx(dir / "f", tensor);
    const Tensor back = read_idx(dir / "f");
    EXPECT_EQ(back.dtype(), tensor.dtype());
    EXPECT_EQ(back.shape(), tensor.shape());
    visit_dtype(tensor.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_arithmetic_v<T>) {
        EXPECT_EQ(back.to_vector<T>(), tensor.to_vector<T>());
      }
    });
  }
  EXPECT_EQ(dir.read("f"), from_hex("00000e01"
                                    "00000001"
                                    "01a56e1fc2f8f359"));
  EXPECT_THAT(
      error_text(ErrorKind::invalid, [&] { write_idx(dir / "g", Tensor::of<int64_t>({1})); }),
      testing::StartsWith("write_idx: the format has no i64"));
}

// Any damage is either an error or another tensor of sizes that the bytes do fill.
TEST(Idx, SurvivesMutatedFiles) {
  const auto read = [](const std::string& bytes) {
    ASSERT_LE(static_cast<size_t>(parse(bytes).size()), bytes.size() * 1032);
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("idx"), 4000, 1, read), 2000);
}

}  // namespace
}  // namespace thalweg::data
