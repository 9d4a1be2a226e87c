// Damaged and hostile files: each a clear error, none a crash.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/philox.h>

#include "base/expect_error.h"
#include "model/safetensors_header.h"

namespace thalweg::model {
namespace {

using testing::HasSubstr;

std::string with_header(const std::string& header, const std::string& data = "") {
  std::string file(8, '\0');
  store_le(static_cast<uint64_t>(header.size()), reinterpret_cast<std::byte*>(file.data()));
  return file + header + data;
}

void read_whole(const std::string& file) {
  for (const TensorEntry& entry : parse_safetensors(as_bytes(file), "f").entries) {
    read_entry(as_bytes(file), entry, "f");
  }
}

std::string error_of(const std::string& header, const std::string& data = "") {
  return error_text(ErrorKind::io, [&] { read_whole(with_header(header, data)); });
}

std::string tensor(const std::string& fields) { return "{\"t\":{" + fields + "}}"; }

TEST(SafetensorsDamage, SaysWhatIsWrongWithAFileThatIsNone) {
  EXPECT_THAT(error_text(ErrorKind::io, [] { read_whole("abc"); }),
              HasSubstr("f at byte 0: expected 8 bytes, found 3"));
  EXPECT_THAT(error_text(ErrorKind::io, [] { read_whole("\x89PNG\r\n\x1a\n0000"); }),
              HasSubstr("f at byte 0: expected its size, at most 4, found 727905341920923785"));
  EXPECT_THAT(error_of("[]"), HasSubstr("f at byte 8: expected '{', found byte 91"));
  EXPECT_THAT(error_of(""), HasSubstr("found nothing"));
}

TEST(SafetensorsDamage, SaysWhereTheHeaderIsNotJson) {
  EXPECT_THAT(error_of("{\"t\":{\"dtype\" \"F32\"}}"),
              HasSubstr("header is not JSON; f at byte 2"));
  EXPECT_THAT(error_of("{\"t\":"), HasSubstr("header is not JSON"));
  EXPECT_THAT(error_of("{} {}"), HasSubstr("header is not JSON"));
  EXPECT_LT(error_of("{\"t\":" + std::string(100000, ' ')).size(), 200u);
}

TEST(SafetensorsDamage, RefusesEntriesOfAnotherForm) {
  EXPECT_THAT(error_of("{\"t\":5}"), HasSubstr("'t': expected an object, found 5"));
  EXPECT_THAT(error_of(tensor("\"dtype\":\"F32\",\"colour\":1")),
              HasSubstr("expected dtype, shape and data_offsets, found 'colour'"));
  EXPECT_THAT(error_of(tensor("\"shape\":[-1]")),
              HasSubstr("'t.shape': expected an integer from 0 to 2^64 - 1, found -1"));
  EXPECT_THAT(error_of(tensor("\"shape\":[1.5]")), HasSubstr("found 1.5"));
  EXPECT_THAT(error_of(tensor("\"shape\":[[1]]")), HasSubstr("found an array"));
  EXPECT_THAT(error_of("{\"__metadata__\":{\"a\":1}}"),
              HasSubstr("'__metadata__.a': expected a text, found 1"));
  EXPECT_THAT(error_of(tensor("\"dtype\":\"F32\",\"shape\":[]")),
              HasSubstr("'t': expected two data_offsets, found none"));
}

TEST(SafetensorsDamage, RefusesANameOrFieldThatComesTwice) {
  const std::string entry = "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
  EXPECT_THAT(error_of("{\"t\":" + entry + ",\"t\":" + entry + "}", "x"),
              HasSubstr("'t': expected a name once"));
  EXPECT_THAT(error_of(tensor("\"shape\":[1],\"shape\":[1]")), HasSubstr("expected a field once"));
}

TEST(SafetensorsDamage, RefusesSizesThatDoNotFit) {
  EXPECT_THAT(
      error_of(tensor("\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]"), "12345678"),
      HasSubstr("'t': expected 12 bytes for F32 [3], found data_offsets [0, 8] with 8"));
  EXPECT_THAT(error_of(tensor("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]"), "1234567"),
              HasSubstr("'t': expected data_offsets in order, up to 7, found [0, 8]"));
  EXPECT_THAT(error_of(tensor("\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],"
                              "\"data_offsets\":[0,0]")),
              HasSubstr("of more than 2^64"));
  EXPECT_THAT(error_of(tensor("\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],"
                              "\"data_offsets\":[0,1]"),
                       "1"),
              HasSubstr("expected at most 8 dimensions, found 9"));
}

TEST(SafetensorsDamage, RefusesOverlapsGapsAndATail) {
  const auto two = [](const char* a, const char* b) {
    return std::string("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":") + a +
           "},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" + b + "}}";
  };
  EXPECT_THAT(error_of(two("[0,2]", "[1,3]"), "123"), HasSubstr("tensors overlap in the data"));
  EXPECT_THAT(error_of(two("[0,2]", "[3,5]"), "12345"), HasSubstr("gap in the data"));
  EXPECT_THAT(error_of(two("[0,2]", "[2,4]"), "12345"),
              HasSubstr("expected the end, found 1 more bytes"));
}

TEST(SafetensorsDamage, RefusesDtypesItHasNotAndBoolsThatAreNone) {
  EXPECT_THAT(error_of(tensor("\"dtype\":\"U32\",\"shape\":[1],\"data_offsets\":[0,4]"), "1234"),
              HasSubstr("'t': expected a dtype of I64, F64, F32, I32, BF16, F16, I16, I8, U8, "
                        "BOOL, found U32"));
  EXPECT_THAT(error_of(tensor("\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]"), "\1\7"),
              HasSubstr("'t': expected 0 or 1, found 7"));
}

// Changes, inserts, removes and repeats bytes of a good file; cuts it; writes large numbers.
void mutate(std::string& file, Philox& random) {
  const auto place = [&] { return random.bounded(static_cast<uint32_t>(file.size()) + 1); };
  switch (random.bounded(6)) {
    case 0:
      if (!file.empty()) file[place() % file.size()] = static_cast<char>(random.next());
      break;
    case 1:
      file.insert(place(), 1, static_cast<char>(random.next()));
      break;
    case 2:
      file.erase(place(), 1 + random.bounded(4));
      break;
    case 3:
      file.insert(place(), file.substr(place(), random.bounded(40)));
      break;
    case 4:
      file.resize(place());
      break;
    default:
      file.insert(place(), std::to_string(random.next64()));
  }
}

TEST(SafetensorsDamage, NeverCrashesOnAMutatedFile) {
  const std::string good = read_file(THALWEG_TEST_FOLDER "/fixtures/reference.safetensors");
  int refused = 0;
  for (uint64_t round = 0; round < 20000; ++round) {
    Philox random(round);
    std::string file = good;
    const uint32_t changes = 1 + random.bounded(3);
    for (uint32_t i = 0; i < changes; ++i) mutate(file, random);
    // Two of three keep a size of the header that fits, so that what is behind it is tried too.
    if (round % 3 && file.size() > 8) {
      const uint64_t size =
          std::min<uint64_t>(load_le<uint64_t>(as_bytes(good).data()), file.size() - 8);
      store_le(size, reinterpret_cast<std::byte*>(file.data()));
    }
    try {
      read_whole(file);
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(error.kind(), ErrorKind::internal) << error.what();
    }
  }
  EXPECT_GT(refused, 10000);
  EXPECT_LT(refused, 20000);
}

}  // namespace
}  // namespace thalweg::model
