#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/philox.h>
#include <thalweg/data/format.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/corpus_totals.h"

namespace thalweg::data {
namespace {

TEST(StreamSpec, ReadsWhatPeopleWrite) {
  const StreamSpec plain = parse_stream_spec("F:dense:784");
  EXPECT_EQ(plain.name, "F");
  EXPECT_EQ(plain.field, "F");
  EXPECT_FALSE(plain.sparse);
  EXPECT_EQ(plain.shape, Shape({784}));
  EXPECT_FALSE(plain.dtype);
  const StreamSpec full = parse_stream_spec("labels=L:sparse:10:f64:counts");
  EXPECT_EQ(full.name, "labels");
  EXPECT_EQ(full.field, "L");
  EXPECT_TRUE(full.sparse);
  EXPECT_TRUE(full.counts_samples);
  EXPECT_EQ(full.dtype, DType::f64);
  EXPECT_EQ(parse_stream_spec("F:dense:1x28x28").shape, Shape({1, 28, 28}));
  EXPECT_EQ(parse_stream_spec("F:dense:1x28x28").dim(), 784);
  for (const char* text : {"F:dense:784", "labels=L:sparse:10:f64:counts", "x:dense:2x3:i64"})
    EXPECT_EQ(to_string(parse_stream_spec(text)), text);
}

TEST(StreamSpec, SaysWhatIsWrong) {
  for (const char* text : {"", "F", "F:784", "F:dense", ":dense:3", "=F:dense:3", "x=:dense:3",
                           "F:thick:3", "F:dense:0", "F:dense:-1", "F:dense:3x", "F:dense:x",
                           "F:sparse:2x2", "F:dense:3:f33", "F:dense:99999999999999999999"}) {
    EXPECT_THAT(error_text(ErrorKind::invalid, [&] { parse_stream_spec(text); }),
                testing::StartsWith("stream: '" + std::string(text) + "': "));
  }
}

TEST(Formats, HaveDifferentNamesAndExtensions) {
  std::set<std::string> names, extensions;
  for (const Format& format : formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_NE(format.open, nullptr) << format.name;
    EXPECT_GT(std::string(format.doc).size(), 10u) << format.name;
    for (const char* extension : format.extensions) {
      EXPECT_TRUE(extensions.insert(extension).second) << extension;
      EXPECT_EQ(extension[0], '.');
    }
  }
}

TEST(Formats, AreFoundByNameAndExtension) {
  EXPECT_STREQ(find_format("a.ctf").name, "ctf");
  EXPECT_STREQ(find_format("d.x/a.ctf.gz").name, "ctf");
  EXPECT_STREQ(find_format("a.txt", "ctf").name, "ctf");
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { find_format("a.ctf/b"); }),
              testing::HasSubstr("does not tell the format"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { find_format("a", "ctff"); }),
              testing::HasSubstr("did you mean 'ctf'?"));
  const TempDir dir;
  dir.write("a.ctf", "0 |F 1 2 3 |L 2:1 |# |y 1\n1 |L 17:1 |F 1 2\n");
  EXPECT_THAT(
      error_text(ErrorKind::invalid, [&] { open_corpus(find_format("a.ctf"), dir / "a.ctf"); }),
      testing::EndsWith("it may have F:dense:3 L:sparse:18 y:dense:1"));
  dir.write("a.ctf", "");
  EXPECT_THAT(
      error_text(ErrorKind::invalid, [&] { open_corpus(find_format("a.ctf"), dir / "a.ctf"); }),
      testing::EndsWith("F:dense:784"));
}

// A sequence as plain numbers.
struct Sequence {
  uint64_t key = 0;
  std::vector<double> dense;                                    // of samples of 3 values
  std::vector<std::vector<std::pair<int32_t, double>>> sparse;  // of 20 columns

  friend bool operator==(const Sequence&, const Sequence&) = default;
};

std::vector<Sequence> random_sequences(Philox& random, bool is_f32) {
  const auto number = [&]() -> double {
    const double value = std::ldexp(random.bounded(1 << 30) - double(1 << 29),
                                    static_cast<int>(random.bounded(60)) - 50);
    return is_f32 ? static_cast<float>(value) : value;
  };
  std::vector<Sequence> sequences(1 + random.bounded(40));
  for (size_t i = 0; i < sequences.size(); ++i) {
    sequences[i].key = i * 3 + 1;
    sequences[i].dense.resize(3 * (1 + random.bounded(4)));
    for (double& value : sequences[i].dense) value = number();
    sequences[i].sparse.resize(1 + random.bounded(4));
    for (auto& sample : sequences[i].sparse)
      for (int32_t column = 0; column < 20; ++column)
        if (random.bounded(4) == 0) sample.push_back({column, number()});
  }
  return sequences;
}

template <typename T>
void write(SequenceWriter& writer, const Sequence& sequence) {
  const std::vector<T> dense(sequence.dense.begin(), sequence.dense.end());
  std::vector<T> stored;
  std::vector<int32_t> columns;
  std::vector<int64_t> row_starts = {0};
  for (const auto& sample : sequence.sparse) {
    for (const auto& [column, value] : sample) {
      columns.push_back(column);
      stored.push_back(static_cast<T>(value));
    }
    row_starts.push_back(static_cast<int64_t>(stored.size()));
  }
  const StreamValues values[] = {
      {.samples = static_cast<int64_t>(dense.size() / 3), .values = dense.data()},
      {.samples = static_cast<int64_t>(sequence.sparse.size()),
       .values = stored.data(),
       .columns = columns.data(),
       .row_starts = row_starts.data()}};
  writer.write(sequence.key, values);
}

template <typename T>
Sequence read(const Chunk& chunk, int64_t s) {
  Sequence sequence;
  const StreamValues dense = chunk.read(s, 0, {});
  const auto* values = static_cast<const T*>(dense.values);
  sequence.dense.assign(values, values + 3 * dense.samples);
  const StreamValues sparse = chunk.read(s, 1, {});
  for (int64_t i = 0; i < sparse.samples; ++i) {
    auto& sample = sequence.sparse.emplace_back();
    for (int64_t v = sparse.row_starts[i]; v < sparse.row_starts[i + 1]; ++v)
      sample.push_back({sparse.columns[v], static_cast<const T*>(sparse.values)[v]});
  }
  return sequence;
}

template <typename T>
void expect_round_trip(const Format& format, Philox& random) {
  const TempDir dir;
  const std::string path = dir / "f";
  const DType dtype = dtype_of<T>;
  const std::vector<Sequence> sequences = random_sequences(random, sizeof(T) == 4);
  const auto writer =
      format.create(path, {.streams = {{"D", dtype, {3}, false, {}}, {"S", dtype, {20}, true, {}}},
                           .key_kind = format.holds_keys ? KeyKind::number : KeyKind::position});
  for (const Sequence& sequence : sequences) write<T>(*writer, sequence);
  writer->commit();

  const std::string type = sizeof(T) == 4 ? ":f32" : ":f64";
  const auto corpus = open_corpus(format, path,
                                  {.streams = {parse_stream_spec("D:dense:3" + type),
                                               parse_stream_spec("S:sparse:20" + type)}});
  size_t n = 0;
  for (int64_t c = 0; corpus->has_chunk(c); ++c) {
    const auto chunk = corpus->load(c);
    for (int64_t s = 0; s < corpus->chunk(c).sequences; ++s, ++n) {
      ASSERT_LT(n, sequences.size());
      Sequence got = read<T>(*chunk, s);
      got.key = sequences[n].key;
      if (format.holds_keys) got.key = std::get<uint64_t>(corpus->key(c, s));
      ASSERT_EQ(got, sequences[n]) << format.name;
    }
  }
  ASSERT_EQ(n, sequences.size());
}

TEST(Formats, ThatHoldSequencesGiveBackWhatWasWritten) {
  Philox random(11);
  for (const char* name : {"ctf", "cbf"}) {
    for (int round = 0; round < 15; ++round) {
      expect_round_trip<float>(find_format("", name), random);
      expect_round_trip<double>(find_format("", name), random);
    }
  }
}

TEST(Formats, SeveralFilesAreOneCorpus) {
  const TempDir dir;
  const Format& cbf = find_format("", "cbf");
  for (int file = 0; file < 3; ++file) {
    const auto writer =
        cbf.create(dir / fmt::format("p{}.cbf", file), {.streams = {{"x", DType::f32, {1}}}});
    for (int i = 0; i <= file; ++i) {
      const float value = static_cast<float>(10 * file + i);
      const StreamValues values[] = {{.samples = 1, .values = &value}};
      writer->write(uint64_t{0}, values);
    }
    writer->commit();
  }
  const auto corpus = open_corpus(cbf, dir / "p*.cbf");
  EXPECT_TRUE(corpus->has_chunk(2));
  EXPECT_FALSE(corpus->has_chunk(3));
  EXPECT_EQ(corpus->chunks(), 3);
  EXPECT_EQ(totals_of(*corpus).sequences, 6);
  EXPECT_EQ(totals_of(*corpus).streams.at("x").sum, 0 + 10 + 11 + 20 + 21 + 22);
  EXPECT_THAT(corpus->load(2)->where(1), testing::EndsWith("p2.cbf, sequence 1"));
  cbf.create(dir / "p4.cbf", {.streams = {{"y", DType::f32, {1}}}})->commit();
  EXPECT_NE(error_text(ErrorKind::io, [&] { open_corpus(cbf, dir / "p*.cbf"); }), "");
}

TEST(Formats, CtfRefusesWhatItCannotHold) {
  const TempDir dir;
  const Format& ctf = find_format("", "ctf");
  const auto refusal = [&](auto action) { return error_text(ErrorKind::invalid, action); };
  EXPECT_THAT(refusal([&] {
                ctf.create(dir / "f", {.streams = {{"a b", DType::f32, {1}}}});
              }),
              testing::HasSubstr("'a b'"));
  EXPECT_THAT(
      refusal([&] {
        ctf.create(dir / "f", {.streams = {{"a", DType::f32, {1}}}, .key_kind = KeyKind::text});
      }),
      testing::HasSubstr("ids are numbers"));
  const float nan = NAN;
  const StreamValues values[] = {{.samples = 1, .values = &nan}};
  const auto writer = ctf.create(dir / "f", {.streams = {{"a", DType::f32, {1}}}});
  EXPECT_THAT(refusal([&] { writer->write(SequenceKey(uint64_t{0}), values); }),
              testing::HasSubstr("finite"));
}

}  // namespace
}  // namespace thalweg::data
