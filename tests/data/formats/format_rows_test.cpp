// Every format of the table that can be written gives back what it was given.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/philox.h>
#include <thalweg/data/format.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/read_all.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Table {
  std::vector<float> values;  // [rows, 3]
  std::vector<int64_t> labels;
};

Table random_table(uint64_t seed) {
  Philox random(seed);
  Table table;
  for (uint32_t n = 1 + random.bounded(50); n > 0; --n) {
    table.labels.push_back(random.bounded(5));
    for (int i = 0; i < 3; ++i)
      table.values.push_back(random.bounded(3) == 0 ? 0 : random.normal() * 1e3f);
  }
  return table;
}

// Writes the streams x [3] and y [] of the table.
void write(const std::string& path, const std::string& format, const Table& table,
           bool has_label = true) {
  const Format& row = find_format(path, format);
  WriteOptions options;
  options.streams = {{"x", DType::f32, {3}}};
  if (has_label) options.streams.push_back({"y", DType::i64, {}});
  const auto writer = row.create(path, options);
  for (size_t i = 0; i < table.labels.size(); ++i) {
    std::vector<StreamValues> values(options.streams.size());
    values[0] = {.samples = 1, .values = &table.values[3 * i]};
    if (has_label) values[1] = {.samples = 1, .values = &table.labels[i]};
    writer->write(uint64_t{i}, values);
  }
  writer->commit();
}

std::vector<std::string> expected_values(const Table& table) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < table.values.size(); i += 3)
    rows.push_back(fmt::format("{} {} {}", static_cast<double>(table.values[i]),
                               static_cast<double>(table.values[i + 1]),
                               static_cast<double>(table.values[i + 2])));
  return rows;
}

std::vector<std::string> expected_labels(const Table& table) {
  std::vector<std::string> rows;
  for (int64_t label : table.labels) rows.push_back(std::to_string(label));
  return rows;
}

TEST(FormatRows, GiveBackTablesThatTheyHaveWritten) {
  const TempDir dir;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const Table table = random_table(seed);
    for (const std::string format : {"csv", "tsv"}) {
      const std::string path = dir / ("f." + format);
      write(path, format, table);
      FormatOptions options;
      options.streams = {parse_stream_spec("x=x_0..x_2:dense:3"),
                         parse_stream_spec("y:dense:1:i64")};
      const auto corpus = open_corpus(find_format(path), path, options);
      ASSERT_EQ(read_stream(*corpus, 0), expected_values(table));
      ASSERT_EQ(read_stream(*corpus, 1), expected_labels(table));
    }
    write(dir / "f.npz", "npz", table);
    const auto npz = open_corpus(find_format("f.npz"), dir / "f.npz");
    ASSERT_EQ(read_stream(*npz, 0), expected_values(table));
    ASSERT_EQ(read_stream(*npz, 1), expected_labels(table));
    for (const std::string format : {"npy", "idx"}) {
      write(dir / "f", format, table, false);
      ASSERT_EQ(read_stream(*open_corpus(find_format("f", format), dir / "f"), 0),
                expected_values(table));
    }
    write(dir / "f.svm", "libsvm", table);
    FormatOptions options;
    options.streams = {parse_stream_spec("x:sparse:3")};
    const auto svm = open_corpus(find_format("f.svm"), dir / "f.svm", options);
    std::vector<std::string> sparse;
    for (size_t i = 0; i < table.values.size(); i += 3) {
      std::vector<std::string> words;
      for (size_t j = 0; j < 3; ++j)
        if (table.values[i + j] != 0)
          words.push_back(fmt::format("{}:{}", j, static_cast<double>(table.values[i + j])));
      sparse.push_back(fmt::format("{}", fmt::join(words, " ")));
    }
    ASSERT_EQ(read_stream(*svm, 0), sparse);
    ASSERT_EQ(read_stream(*svm, 1), expected_labels(table));
  }
}

TEST(FormatRows, KeepSequencesByTheirKeysInCsv) {
  const TempDir dir;
  WriteOptions options;
  options.streams = {{"x", DType::i64, {}}};
  options.key_kind = KeyKind::text;
  const auto writer = find_format("f.csv").create(dir / "f.csv", options);
  const int64_t values[] = {1, 2, 3};
  const StreamValues first[] = {{.samples = 2, .values = values}};
  const StreamValues second[] = {{.samples = 1, .values = values + 2}};
  writer->write(SequenceKey("a,b"), first);
  writer->write(SequenceKey("c"), second);
  writer->commit();
  EXPECT_EQ(dir.read("f.csv"), "key,x\n\"a,b\",1\n\"a,b\",2\nc,3\n");
  FormatOptions read;
  read.streams = {parse_stream_spec("x:dense:1:i64")};
  read.more = {{"key", "key"}};
  const auto corpus = open_corpus(find_format("f.csv"), dir / "f.csv", read);
  EXPECT_THAT(read_stream(*corpus, 0), ElementsAre("1 | 2", "3"));
  EXPECT_EQ(corpus->key(0, 0), SequenceKey("a,b"));
}

TEST(FormatRows, RefuseWhatTheyCannotHold) {
  const TempDir dir;
  const auto error = [&](const std::string& format, std::vector<StreamInfo> streams) {
    return error_text(ErrorKind::invalid,
                      [&] { find_format("", format).create(dir / "f", {std::move(streams)}); });
  };
  EXPECT_THAT(error("csv", {{"x", DType::f32, {9}, true}}), HasSubstr("stream 'x' is sparse"));
  EXPECT_THAT(error("npz", {{"x", DType::u8, {3, -1, -1}}}), HasSubstr("samples of several sizes"));
  EXPECT_THAT(error("npy", {{"x"}, {"y"}}), HasSubstr("there are 2; write npz"));
  EXPECT_THAT(error("libsvm", {{"x", DType::f32, {9}, true}}),
              HasSubstr("and a dense stream of one"));
}

TEST(FormatRows, CheckTheirOptions) {
  const TempDir dir;
  const std::string path = dir.write("f.csv", "a,b\n1,2\n");
  const auto error = [&](FormatOptions options) {
    return error_text(ErrorKind::invalid,
                      [&] { open_corpus(find_format("f.csv"), path, options); });
  };
  FormatOptions wrong_dim;
  wrong_dim.streams = {parse_stream_spec("x=*:dense:3")};
  EXPECT_THAT(error(wrong_dim), HasSubstr("stream 'x' has 2 columns, not as x=*:dense:3 says"));
  EXPECT_THAT(error({.more = {{"header", "yes"}}}), HasSubstr("expected true or false"));
  EXPECT_THAT(error({.more = {{"delimiter", "ab"}}}), HasSubstr("expected one character"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           open_corpus(find_format("f.txt"), path, {.more = {{"tokens", "x"}}});
                         }),
              HasSubstr("option tokens cannot be 'x'; expected bytes, characters, words"));
}

}  // namespace
}  // namespace thalweg::data
