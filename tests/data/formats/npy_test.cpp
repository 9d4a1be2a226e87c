#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <thalweg/data/array_files.h>
#include <thalweg/data/idx.h>
#include <thalweg/data/npy.h>
#include <thalweg/device/memory.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/mutate.h"
#include "data/formats/read_all.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Written by NumPy.
// int16 [1, 2, 3] in format version 1.0
const std::string kVersion1 = from_hex(
    "934e554d5059010076007b276465736372273a20273c6932272c2027666f727472616e5f6f726465"
    "72273a2046616c73652c20277368617065273a2028332c292c207d20202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020200a010002000300");
// 2.0
const std::string kVersion2 = from_hex(
    "934e554d50590200740000007b276465736372273a20273c6932272c2027666f727472616e5f6f72"
    "646572273a2046616c73652c20277368617065273a2028332c292c207d2020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020200a010002000300");
// 3.0
const std::string kVersion3 = from_hex(
    "934e554d50590300740000007b276465736372273a20273c6932272c2027666f727472616e5f6f72"
    "646572273a2046616c73652c20277368617065273a2028332c292c207d2020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020200a010002000300");
// numpy.asfortranarray(arange(6, dtype='>f4').reshape(2, 3))
const std::string kFortran = from_hex(
    "934e554d5059010076007b276465736372273a20273e6634272c2027666f727472616e5f6f726465"
    "72273a20547275652c20277368617065273a2028322c2033292c207d202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020200a00000000404000003f800000408000004000000040a00000");
// savez_compressed(x=arange(6.0).reshape(3, 2), y=[True, False, True])
const std::string kCompressed = from_hex(
    "504b03042d0000000800000021008e13d434ffffffffffffffff05001400782e6e707901001000b0"
    "0000000000000057000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a1"
    "aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a0a469a3a0ab5"
    "0a64032e0614f0c11eca7080501c505a004a8b380000504b03042d00000008000000210016938cbb"
    "ffffffffffffffff05001400792e6e707901001000830000000000000047000000000000009bec17"
    "ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f94920a1277"
    "4bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e46064600504b01022d032d0000000800"
    "000021008e13d43457000000b0000000050000000000000000000000800100000000782e6e707950"
    "4b01022d032d00000008000000210016938cbb470000008300000005000000000000000000000080"
    "018e000000792e6e7079504b05060000000002000200660000000c0100000000");
// zeros(2, [('a', '<i4'), ('b', '<f4')])
const std::string kStructured = from_hex(
    "934e554d5059010076007b276465736372273a205b282761272c20273c693427292c20282762272c"
    "20273c663427295d2c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065"
    "273a2028322c292c207d202020202020202020202020202020202020202020202020202020202020"
    "202020202020200a00000000000000000000000000000000");
// an array of objects
const std::string kObject = from_hex(
    "934e554d5059010076007b276465736372273a20277c4f272c2027666f727472616e5f6f72646572"
    "273a2046616c73652c20277368617065273a2028312c292c207d2020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020200a8004958b000000000000008c166e756d70792e5f636f72652e6d756c74696172"
    "726179948c0c5f7265636f6e7374727563749493948c056e756d7079948c076e6461727261799493"
    "944b0085944301629487945294284b014b01859468038c0564747970659493948c024f3894898887"
    "945294284b038c017c944e4e4e4affffffff4affffffff4b3f749462895d947d94617494622e");

Tensor parse(const std::string& bytes) { return read_npy(as_bytes(bytes), "f"); }

std::string error_of(const std::string& bytes) {
  return error_text(ErrorKind::io, [&] { parse(bytes); });
}

// A file of version 1.0 with this dictionary.
std::string file_of(const std::string& header, const std::string& data = "") {
  return from_hex("934e554d50590100") + static_cast<char>(header.size() & 0xFF) +
         static_cast<char>(header.size() >> 8) + header + data;
}

// rogersce/cnpy PR #77: the header's length has 4 bytes from version 2 on.
TEST(NPY, ReadsEveryFormatVersion) {
  for (const std::string& file : {kVersion1, kVersion2, kVersion3}) {
    const Tensor array = parse(file);
    EXPECT_EQ(array.to_vector<int16_t>(), std::vector<int16_t>({1, 2, 3}));
  }
}

TEST(NPY, ReadsOtherOrdersOfBytesAndAxes) {
  const Tensor array = parse(kFortran);
  EXPECT_EQ(array.shape(), Shape({2, 3}));
  EXPECT_EQ(array.to_vector<float>(), std::vector<float>({0, 1, 2, 3, 4, 5}));
}

TEST(NPY, ReadsScalarsAndEmptyArrays) {
  EXPECT_EQ(
      parse(file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", "\7")).item<int>(),
      7);
  EXPECT_EQ(parse(file_of("{'shape': (0, 5L), 'descr': 'f8', 'fortran_order': True}")).shape(),
            Shape({0, 5}));
}

// numpy/numpy #12759.
TEST(NPY, RefusesObjectsAndStructuresByName) {
  EXPECT_THAT(error_of(kObject), HasSubstr("stored as a pickle, which may run code"));
  EXPECT_THAT(error_of(kStructured), HasSubstr("a structured dtype cannot be read"));
}

TEST(NPY, RefusesWhatItsHeaderDoesNotSay) {
  const std::string rest = "'descr': '<i2', 'fortran_order': False";
  EXPECT_THAT(error_of(file_of("{" + rest + ", 'shape': (2)}", "abcd")),
              HasSubstr("expected ',' after the only size"));
  EXPECT_THAT(error_of(file_of("{" + rest + "}")), HasSubstr("each once"));
  EXPECT_THAT(error_of(file_of("{" + rest + ", 'shape': (2,), 'descr': '<i2'}", "abcd")),
              HasSubstr("each once"));
  EXPECT_THAT(error_of(file_of("{" + rest + ", 'shape': (-2,)}")), HasSubstr("expected a size"));
  EXPECT_THAT(error_of(file_of("{" + rest + ", 'shape': (1,1,1,1,1,1,1,1,1)}", "ab")),
              HasSubstr("at most 8 dimensions"));
  EXPECT_THAT(error_of(file_of("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}")),
              HasSubstr("character 10: expected dtype b1, i1,"));
  EXPECT_THAT(error_of("PK34567890123456"), HasSubstr("is it an NPY file?"));
  EXPECT_THAT(error_of(""), HasSubstr("is it an NPY file?"));
  EXPECT_THAT(error_of(from_hex("934e554d50590400") + "ab"), HasSubstr("version 4.0"));
}

TEST(NPY, ChecksSizesBeforeItTakesMemory) {
  reset_peak_memory();
  const size_t before = memory_stats().peak_live;
  EXPECT_THAT(error_of(from_hex("934e554d50590200 ffffffff") + std::string(188, ' ')),
              HasSubstr("a header of 4294967295 bytes does not fit"));
  EXPECT_EQ(
      error_of(kVersion1.substr(0, kVersion1.size() - 1)),
      "npy: size differs from the header's; f at byte 128: expected 6 bytes for i16 [3], found "
      "5");
  EXPECT_THAT(error_of(kVersion1 + "x"), HasSubstr("expected 6 bytes for i16 [3], found 7"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, "
                               "1099511627776)}")),
              HasSubstr("expected more than 2^64 bytes"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,)}")),
              HasSubstr("expected 8000000000 bytes"));
  EXPECT_LT(memory_stats().peak_live, before + (1 << 20));
}

TEST(NPY, WritesTheBytesThatNumpyWrites) {
  const TempDir dir;
  write_npy(dir / "f", Tensor::of<int16_t>({1, 2, 3}));
  EXPECT_EQ(dir.read("f"), kVersion1);
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] { write_npy(dir / "g", Tensor::zeros({1}, {.dtype = DType::bf16})); }),
              HasSubstr("NumPy has no bf16"));
}

TEST(NPY, ReadsBackWhatItWrites) {
  const TempDir dir;
  Philox random(12);
  for (int round = 0; round < 40; ++round) {
    Shape shape;
    for (uint32_t n = random.bounded(5); n > 0; --n) shape.push_back(random.bounded(4));
    std::vector<NamedTensor> arrays;
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::i64, DType::i32, DType::i16,
                        DType::i8, DType::u8, DType::boolean}) {
      const Tensor tensor = Tensor::empty(shape, {.dtype = dtype});
      auto* bytes = tensor.impl()->as<uint8_t>();
      for (size_t i = 0; i < static_cast<size_t>(tensor.size()) * item_size(dtype); ++i)
        bytes[i] = static_cast<uint8_t>(random.bounded(dtype == DType::boolean ? 2 : 256));
      arrays.push_back({name(dtype), tensor});
    }
    write_npz(dir / "f.npz", arrays);
    const auto back = read_npz(dir / "f.npz");
    ASSERT_EQ(back.size(), arrays.size());
    for (size_t i = 0; i < back.size(); ++i) {
      const Tensor& a = arrays[i].tensor;
      const Tensor& b = back[i].tensor;
      ASSERT_EQ(back[i].name, arrays[i].name);
      ASSERT_EQ(b.shape(), a.shape());
      ASSERT_EQ(b.dtype(), a.dtype());
      const size_t n = static_cast<size_t>(a.size()) * item_size(a.dtype());
      ASSERT_EQ(0, n == 0 ? 0 : std::memcmp(a.impl()->data, b.impl()->data, n));
    }
  }
}

TEST(NPY, ReadsCompressedArchives) {
  const TempDir dir;
  const auto arrays = read_npz(dir.write("f.npz", kCompressed));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "x");
  EXPECT_EQ(arrays[0].tensor.to_vector<double>(), std::vector<double>({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(arrays[1].tensor.to_vector<bool>(), std::vector<bool>({true, false, true}));
}

TEST(NPY, SurvivesMutatedFiles) {
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("npy"), 10000, 13, parse), 4000);
}

TEST(ArrayFiles, AreReadByRows) {
  const TempDir dir;
  write_npy(dir / "x", Tensor::of<float>({0, 1, 2, 3, 4, 5}, {3, 2}));
  write_npy(dir / "y", Tensor::of<int64_t>({7, 8, 9}));
  for (size_t limit : {1, 33, 1000}) {
    NPYDeserializer data({{"data", dir / "x"}, {"label", dir / "y"}});
    data.limit_chunks(limit);
    EXPECT_EQ(data.chunks(), limit == 1 ? 3 : limit == 33 ? 2 : 1);
    EXPECT_EQ(data.streams()[0].shape, Shape({2}));
    EXPECT_EQ(data.streams()[1].shape, Shape({}));
    EXPECT_THAT(read_stream(data, 0), ElementsAre("0 1", "2 3", "4 5"));
    EXPECT_THAT(read_stream(data, 1), ElementsAre("7", "8", "9"));
  }
}

TEST(ArrayFiles, ReadOnlyTheRowsThatAreWanted) {
  const TempDir dir;
  write_npy(dir / "x", Tensor::of<int64_t>({7, 8, 9, 10}));
  const NPYDeserializer data(dir / "x");
  const auto chunk = data.load(0, {true, false, false, true});
  EXPECT_EQ(text_of(data.streams()[0], chunk->read(0, 0, {})), "7");
  EXPECT_EQ(text_of(data.streams()[0], chunk->read(3, 0, {})), "10");
  EXPECT_EQ(chunk->where(3), dir / "x" + ", row 3");
}

TEST(ArrayFiles, ReadArchivesStoredAndCompressed) {
  const TempDir dir;
  write_npz(dir / "stored.npz",
            {{"a", Tensor::of<float>({1, 2})}, {"b", Tensor::of<uint8_t>({3, 4})}});
  const NPYDeserializer stored(dir / "stored.npz");
  EXPECT_EQ(stored.streams()[1].name, "b");
  EXPECT_THAT(read_stream(stored, 1), ElementsAre("3", "4"));
  const NPYDeserializer packed(dir.write("packed.npz", kCompressed));
  EXPECT_THAT(read_stream(packed, 0), ElementsAre("0 1", "2 3", "4 5"));
}

TEST(ArrayFiles, ReadIdxFilesPlainAndGzip) {
  const TempDir dir;
  write_idx(dir / "x", Tensor::of<int16_t>({1, -2, 300, 4}, {2, 2}));
  write_idx(dir / "y", Tensor::of<uint8_t>({5, 6}));
  gzFile file = gzopen((dir / "y.gz").c_str(), "wb");
  const std::string labels = dir.read("y");
  gzwrite(file, labels.data(), static_cast<unsigned>(labels.size()));
  gzclose(file);
  const IDXDeserializer data({{"data", dir / "x"}, {"label", dir / "y.gz"}});
  EXPECT_THAT(read_stream(data, 0), ElementsAre("1 -2", "300 4"));
  EXPECT_THAT(read_stream(data, 1), ElementsAre("5", "6"));
  dir.write("short", dir.read("x").substr(0, 19));
  EXPECT_THAT(error_text(ErrorKind::io,
                         [&] {
                           IDXDeserializer({{"x", dir / "short"}});
                         }),
              HasSubstr("expected 8 bytes for i16 [2, 2], found 7"));
}

TEST(ArrayFiles, MustHaveEquallyManySamples) {
  const TempDir dir;
  write_npy(dir / "x", Tensor::of<float>({1, 2, 3}));
  write_npy(dir / "y", Tensor::of<float>({1, 2}));
  write_npy(dir / "s", Tensor::scalar(1));
  write_npy(dir / "e", Tensor::zeros({0, 3}));
  const auto error = [&](ErrorKind kind, const std::vector<ArrayFile>& files) {
    return error_text(kind, [&] { NPYDeserializer{files}; });
  };
  EXPECT_THAT(error(ErrorKind::invalid, {{"x", dir / "x"}, {"y", dir / "y"}}),
              HasSubstr("numbers of samples differ"));
  EXPECT_THAT(error(ErrorKind::invalid, {{"s", dir / "s"}}), HasSubstr("has no samples"));
  EXPECT_THAT(error(ErrorKind::io, {{"e", dir / "e"}}), HasSubstr("has no samples"));
  EXPECT_THAT(error(ErrorKind::invalid, {{"f", dir.write("f", kFortran)}}),
              HasSubstr("Fortran's order"));
}

}  // namespace
}  // namespace thalweg::data
