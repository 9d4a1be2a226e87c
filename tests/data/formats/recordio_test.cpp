#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/recordio.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/mutate.h"

namespace thalweg::data {
namespace {

using testing::HasSubstr;

const std::string kMagic = from_hex("0a23d7ce");

std::vector<std::string> records_of(RecordReader reader) {
  std::vector<std::string> records;
  for (std::string record; reader.next(record);) records.push_back(record);
  return records;
}

std::vector<std::string> parse(const std::string& file) {
  return records_of(RecordReader(as_bytes(file), "f"));
}

std::string error_of(const std::string& file) {
  return error_text(ErrorKind::io, [&] { parse(file); });
}

std::string written(const std::vector<std::string>& records) {
  const TempDir dir;
  RecordWriter writer(dir / "f");
  for (const std::string& record : records) writer.write(as_bytes(record));
  writer.commit();
  return dir.read("f");
}

// Bytes that dmlc's own writer (libdmlc 0.5) makes.
const std::pair<std::string, std::string> kGolden[] = {
    {"hi", "0a23d7ce 02000000 68690000"},
    {"", "0a23d7ce 00000000"},
    {"abcd" + kMagic + "xyz", "0a23d7ce 04000020 61626364 0a23d7ce 03000060 78797a00"},
    {kMagic, "0a23d7ce 00000020 0a23d7ce 00000060"},
    {"a" + kMagic, "0a23d7ce 05000000 610a23d7 ce000000"},
    {kMagic + kMagic, "0a23d7ce 00000020 0a23d7ce 00000040 0a23d7ce 00000060"},
    {kMagic + kMagic + "ab", "0a23d7ce 00000020 0a23d7ce 00000040 0a23d7ce 02000060 61620000"}};

TEST(RecordIO, WritesTheBytesThatDmlcWrites) {
  for (const auto& [record, hex] : kGolden) EXPECT_EQ(written({record}), from_hex(hex)) << hex;
}

TEST(RecordIO, ReadsTheBytesThatDmlcWrites) {
  std::string file;
  std::vector<std::string> expected;
  for (const auto& [record, hex] : kGolden) {
    EXPECT_EQ(parse(from_hex(hex)), std::vector<std::string>({record})) << hex;
    file += from_hex(hex);
    expected.push_back(record);
  }
  EXPECT_EQ(parse(file), expected);
}

// NVIDIA/DALI PR #216: a payload that holds the magic.
TEST(RecordIO, GivesEachRecordOnceWhereverTheFileIsCutForTwoRanks) {
  const TempDir dir;
  const std::vector<std::string> records = {"a", kMagic + kMagic + "ab", "gh"};
  const std::string file = written(records);
  dir.write("f", file);
  for (uint64_t cut = 0; cut <= file.size(); ++cut) {
    std::vector<std::string> all = records_of(RecordReader(dir / "f", 0, cut));
    for (const std::string& record : records_of(RecordReader(dir / "f", cut, UINT64_MAX)))
      all.push_back(record);
    EXPECT_EQ(all, records) << "cut at " << cut;
  }
}

TEST(RecordIO, SaysWhereAFileEndsInsideARecordAfterGivingThoseBefore) {
  const std::string file = written({"a", kMagic + kMagic + "ab"});
  for (size_t size = 13; size < file.size(); ++size) {
    const std::string cut = file.substr(0, size);
    RecordReader reader(as_bytes(cut), "f");
    std::string record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record, "a");
    EXPECT_THAT(error_text(ErrorKind::io, [&] { reader.next(record); }),
                HasSubstr("in the record at byte 12"))
        << size;
  }
  EXPECT_EQ(error_of(file.substr(0, file.size() - 3)),
            "recordio: the file ends inside a record; f at byte 36, in the record at byte 12: "
            "expected 4 bytes, found 1");
}

TEST(RecordIO, RejectsPartsThatDoNotFollowEachOther) {
  EXPECT_EQ(error_of(from_hex("0a23d7ce 00000040")),
            "recordio: parts do not follow each other; f at byte 0: expected a part of kind 0 or "
            "1, found kind 2");
  EXPECT_THAT(error_of(from_hex("0a23d7ce 00000060")), HasSubstr("found kind 3"));
  EXPECT_EQ(error_of(from_hex("0a23d7ce 00000020 0a23d7ce 00000000")),
            "recordio: parts do not follow each other; f at byte 8: expected a part of kind 2 or "
            "3, which goes on with the record before it, found kind 0");
  EXPECT_THAT(error_of(from_hex("0a23d7ce 000000e0")), HasSubstr("found kind 7"));
}

TEST(RecordIO, RejectsAWrongMagicNumberAndAnImpossibleSize) {
  EXPECT_EQ(error_of("features 1 2 3"),
            "recordio: wrong magic number; f at byte 0: expected CED7230A, found 74616566; is it "
            "a RecordIO file?");
  EXPECT_EQ(error_of(from_hex("0a23d7ce ffffff1f 00")),
            "recordio: the file ends inside a record; f at byte 8, in the record at byte 0: "
            "expected 536870912 bytes, found 1");
}

TEST(RecordIO, WritesAnIndexThatLeadsToEachRecord) {
  const TempDir dir;
  RecordWriter writer(dir / "f.rec", dir / "f.idx");
  writer.write(as_bytes("first"), 7);
  writer.write(as_bytes("second"), 3);
  writer.commit();
  EXPECT_EQ(dir.read("f.idx"), "7\t0\n3\t16\n");
  const auto places = read_record_index(dir / "f.idx");
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[1].key, 3u);
  RecordReader reader(dir / "f.rec", places[1].offset, UINT64_MAX);
  std::string record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record, "second");
  EXPECT_EQ(reader.offset(), 16u);
}

TEST(RecordIO, RejectsAMalformedIndexWithItsLine) {
  const TempDir dir;
  for (const std::string line : {"1 16", "1\t", "x\t16", "1\t16 ", "1\t18446744073709551616"}) {
    const std::string path = dir.write("f.idx", "0\t0\n" + line + "\n");
    EXPECT_EQ(error_text(ErrorKind::io, [&] { read_record_index(path); }),
              "recordio: malformed index; " + path + ":2: expected 'key TAB byte offset', found '" +
                  line + "'");
  }
}

TEST(RecordIO, PacksLabelsAndContentAsMxnetDoes) {
  // struct.pack('IfQQ', 0, 3.0, 5, 6) + b'jpeg', and flag 2 with two labels after the header.
  const std::string scalar =
      from_hex("00000000 00004040 0500000000000000 0600000000000000") + "jpeg";
  const std::string list = from_hex("02000000 00000000 0100000000000000 0000000000000000") +
                           from_hex("0000803f 000000c0") + "png";
  EXPECT_EQ(pack_image_record({{3}, 5, 6, as_bytes("jpeg")}), scalar);
  EXPECT_EQ(pack_image_record({{1, -2}, 1, 0, as_bytes("png")}), list);
  const ImageRecord one = parse_image_record(as_bytes(scalar), "f");
  EXPECT_EQ(one.labels, std::vector<float>({3}));
  EXPECT_EQ(one.id, 5u);
  EXPECT_EQ(one.id2, 6u);
  EXPECT_EQ(as_text(one.content), "jpeg");
  const ImageRecord two = parse_image_record(as_bytes(list), "f");
  EXPECT_EQ(two.labels, std::vector<float>({1, -2}));
  EXPECT_EQ(as_text(two.content), "png");
}

TEST(RecordIO, RejectsAnImageRecordShorterThanItsLabels) {
  EXPECT_EQ(error_text(ErrorKind::io, [] { parse_image_record(as_bytes("short"), "f, record 3"); }),
            "recordio: not an image record; f, record 3: expected a header of 24 bytes, found 5");
  const std::string cut = from_hex("ffffffff 00000000 0100000000000000 0000000000000000 00000000");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { parse_image_record(as_bytes(cut), "f"); }),
            "recordio: image record ends inside its labels; f: expected 4294967295 labels, found "
            "4 bytes");
}

// Words of few kinds, so that magics and near-magics come at every alignment.
TEST(RecordIO, ReadsBackWhateverItWrites) {
  Philox random(2);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> records(random.bounded(5));
    for (std::string& record : records) {
      for (uint32_t n = random.bounded(12); n > 0; --n) {
        const uint32_t kind = random.bounded(4);
        record += kind == 0 ? std::string(1 + random.bounded(3), 'x') : kMagic.substr(0, 1 + kind);
        if (kind == 3) record += random.bounded(2) ? kMagic : kMagic + kMagic;
      }
    }
    ASSERT_EQ(parse(written(records)), records);
  }
}

TEST(RecordIO, SurvivesMutatedFiles) {
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("recordio"), 4000, 3, parse), 1500);
}

}  // namespace
}  // namespace thalweg::data
