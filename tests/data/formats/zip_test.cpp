#include "data/formats/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/expect_error.h"
#include "data/formats/mutate.h"

namespace thalweg::data {
namespace {

using testing::HasSubstr;

// Written by Python's zipfile: '../up.txt', '/abs.txt', 'dir/' and 'dir/a.txt', deflated.
const std::string kDeflated = from_hex(
    "504b030414000000080000002100e5e8a25c0800000006000000090000002e2e2f75702e7478742b"
    "4e4d2e4a2d0100504b030414000000080000002100a65193280500000003000000080000002f6162"
    "732e7478744b4c2a0600504b03041400000008000000210000000000020000000000000004000000"
    "6469722f0300504b030414000000080000002100e3513d8d0a00000017000000090000006469722f"
    "612e747874cb48cdc9c957c8402701504b0102140314000000080000002100e5e8a25c0800000006"
    "0000000900000000000000000000008001000000002e2e2f75702e747874504b0102140314000000"
    "080000002100a6519328050000000300000008000000000000000000000080012f0000002f616273"
    "2e747874504b01021403140000000800000021000000000002000000000000000400000000000000"
    "0000000080015a0000006469722f504b0102140314000000080000002100e3513d8d0a0000001700"
    "000009000000000000000000000080017e0000006469722f612e747874504b050600000000040004"
    "00d6000000af0000000000");

// Likewise, 'a.txt' twice, stored.
const std::string kTwice = from_hex(
    "504b030414000000000000002100b7efdc83010000000100000005000000612e74787431504b0304"
    "140000000000000021000dbed51a010000000100000005000000612e74787432504b010214031400"
    "0000000000002100b7efdc830100000001000000050000000000000000000000800100000000612e"
    "747874504b01021403140000000000000021000dbed51a0100000001000000050000000000000000"
    "000000800124000000612e747874504b0506000000000200020066000000480000000000");

ZipArchive open(const std::string& bytes) {
  return ZipArchive(open_source(as_bytes(bytes), "f.zip"));
}

std::string error_of(const std::string& bytes) {
  return error_text(ErrorKind::io, [&] {
    const ZipArchive zip = open(bytes);
    for (size_t i = 0; i < zip.entries().size(); ++i) zip.read(i);
  });
}

std::string zipped(const std::vector<std::pair<std::string, std::string>>& entries) {
  MemoryWriter file;
  ZipWriter zip(file);
  for (const auto& [name, content] : entries) zip.write(name, as_bytes(content));
  zip.finish();
  return std::string(as_text(file.bytes()));
}

// huggingface/datasets #8324: names are keys, never paths.
TEST(Zip, ReadsEntriesByTheNamesTheyHave) {
  const ZipArchive zip = open(kDeflated);
  ASSERT_EQ(zip.entries().size(), 4u);
  EXPECT_EQ(zip.read(*zip.find("../up.txt")), "secret");
  EXPECT_EQ(zip.read(*zip.find("/abs.txt")), "abs");
  EXPECT_EQ(zip.read(*zip.find("dir/")), "");
  EXPECT_EQ(zip.read(*zip.find("dir/a.txt")), "hello hello hello hello");
  EXPECT_FALSE(zip.find("up.txt"));
  EXPECT_FALSE(zip.find("dir"));
}

TEST(Zip, RefusesANameThatComesTwice) {
  EXPECT_EQ(error_of(kTwice), "zip: two entries have one name; f.zip: 'a.txt'");
}

TEST(Zip, RefusesAnEntryWhoseLocalNameDiffers) {
  std::string bytes = zipped({{"a.txt", "1"}});
  bytes[30] = 'b';
  EXPECT_EQ(error_of(bytes),
            "zip: the entry differs from the directory; f.zip at byte 0: expected 'a.txt', found "
            "'b.txt'");
}

TEST(Zip, RefusesSizesThatTheFileCannotHold) {
  const size_t directory = kDeflated.find("PK\x01\x02");
  std::string bytes = kDeflated;
  bytes.replace(directory + 24, 4, "\xf0\xff\xff\xff");
  EXPECT_EQ(error_of(bytes),
            "zip: a size of 4294967280 bytes cannot be unpacked from 8; f.zip: '../up.txt'");
  bytes = zipped({{"a", "12345"}});
  const size_t entry = bytes.find("PK\x01\x02");
  bytes.replace(entry + 20, 8, from_hex("ffff0000ffff0000"));
  EXPECT_THAT(error_of(bytes), HasSubstr("the entry lies outside of the file"));
  bytes = zipped({{"a", "12345"}});
  bytes.replace(entry + 42, 4, from_hex("30000000"));
  EXPECT_THAT(error_of(bytes), HasSubstr("zip: "));
}

TEST(Zip, FindsDamageByTheChecksum) {
  std::string bytes = zipped({{"a.txt", "12345"}});
  bytes[36] ^= 1;
  EXPECT_EQ(error_of(bytes), "zip: the entry is damaged; f.zip: 'a.txt' at byte 0");
}

TEST(Zip, SaysThatAFileIsNoZip) {
  EXPECT_THAT(error_of(""), HasSubstr("no end of a directory"));
  EXPECT_THAT(error_of("PK but no more"), HasSubstr("is it a zip file, and complete?"));
  EXPECT_THAT(error_of(kDeflated.substr(0, kDeflated.size() - 1)), HasSubstr("no end"));
}

TEST(Zip, ReadsBackWhatItWrites) {
  const std::string bytes = zipped({{"x", ""}, {"dir/y.npy", std::string(100000, 'y')}, {"", "z"}});
  const ZipArchive zip = open(bytes);
  EXPECT_EQ(zip.entries()[1].name, "dir/y.npy");
  EXPECT_EQ(zip.read(0), "");
  EXPECT_EQ(zip.read(1), std::string(100000, 'y'));
  EXPECT_EQ(zip.read(2), "z");
}

TEST(Zip, SurvivesMutatedFiles) {
  const auto read = [](const std::string& bytes) {
    const ZipArchive zip = open(bytes);
    for (size_t i = 0; i < zip.entries().size(); ++i) zip.read(i);
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("zip"), 4000, 10, read), 2000);
}

}  // namespace
}  // namespace thalweg::data
