#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <zlib.h>

#include <thalweg/data/ctf.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/corpus_totals.h"

namespace thalweg::data {
namespace {

const std::vector<CtfStream> kXy = {{.name = "x", .dim = 3},
                                    {.name = "y", .dim = 4, .sparse = true}};

class Ctf : public testing::Test {
 protected:
  CTFDeserializer open(const std::string& content, std::vector<CtfStream> streams = kXy,
                       CtfOptions options = {}) {
    dir_.write("f.ctf", content);
    return CTFDeserializer(dir_ / "f.ctf", std::move(streams), options);
  }

  // Without the folder.
  std::string error_of(const std::string& content, std::vector<CtfStream> streams = kXy,
                       CtfOptions options = {}) {
    const std::string text =
        error_text(ErrorKind::io, [&] { totals_of(open(content, std::move(streams), options)); });
    const size_t at = text.find(dir_.path() + "/");
    return at == text.npos ? text : std::string(text).erase(at, dir_.path().size() + 1);
  }

  TempDir dir_;
};

std::vector<float> floats(const StreamValues& values, int64_t n) {
  const auto* data = static_cast<const float*>(values.values);
  return {data, data + n};
}

TEST_F(Ctf, ReadsRowsWithoutIdsAsSequences) {
  const CTFDeserializer corpus =
      open("|x 1 -2.5 3e2 |y 0:1 2:0.5\n|y |x\t4  5 6 \t\r\n\n  \n|# remark\n|z 9 |x 7 8 9 |y 3:1");
  EXPECT_EQ(corpus.key_kind(), KeyKind::position);
  ASSERT_EQ(corpus.chunks(), 1);
  ASSERT_EQ(corpus.chunk(0).sequences, 3);
  const auto chunk = corpus.load(0);
  EXPECT_EQ(floats(chunk->read(0, 0, {}), 3), std::vector<float>({1, -2.5, 300}));
  EXPECT_EQ(floats(chunk->read(1, 0, {}), 3), std::vector<float>({4, 5, 6}));
  EXPECT_EQ(floats(chunk->read(2, 0, {}), 3), std::vector<float>({7, 8, 9}));
  const StreamValues y = chunk->read(0, 1, {});
  EXPECT_EQ(y.samples, 1);
  EXPECT_EQ(y.row_starts[1] - y.row_starts[0], 2);
  EXPECT_EQ(y.columns[y.row_starts[0] + 1], 2);
  const StreamValues empty = chunk->read(1, 1, {});
  EXPECT_EQ(empty.row_starts[1], empty.row_starts[0]);
  EXPECT_THAT(chunk->where(2), testing::EndsWith("f.ctf:6"));
}

TEST_F(Ctf, RowsOfOneIdAreASequence) {
  const CTFDeserializer corpus = open(
      "7 |x 1 2 3 |y 0:1\n7 |x 4 5 6\n|x 7 8 9\n\n007 |x 0 0 0\n"
      "9|y 1:1|x 1 1 1\n18446744073709551615 |x 2 2 2 |y\n");
  EXPECT_EQ(corpus.key_kind(), KeyKind::number);
  const auto chunk = corpus.load(0);
  ASSERT_EQ(corpus.chunk(0).sequences, 3);
  EXPECT_EQ(chunk->length(0), 4);
  EXPECT_EQ(chunk->read(0, 0, {}).samples, 4);
  EXPECT_EQ(chunk->read(0, 1, {}).samples, 1);
  EXPECT_EQ(chunk->length(1), 1);
  EXPECT_EQ(std::get<uint64_t>(corpus.key(0, 0)), 7u);
  EXPECT_EQ(std::get<uint64_t>(corpus.key(0, 2)), UINT64_MAX);
  EXPECT_THAT(chunk->where(1), testing::EndsWith("f.ctf:6"));
  const CTFDeserializer rows =
      open("7 |x 1 2 3 |y 0:1\n7 |x 4 5 6 |y\n", kXy, {.skip_sequence_ids = true});
  EXPECT_EQ(totals_of(rows).sequences, 2);
}

// What CNTK's users asked for in issue 3728.
TEST_F(Ctf, ErrorsNameThePlaceTheStreamAndWhatWasExpected) {
  EXPECT_EQ(error_of("|y 0 1 0\n", {{.name = "y", .dim = 3, .sparse = true}}),
            "f.ctf:1:4: stream 'y': expected index:value, found '0 '; is the stream dense?");
  EXPECT_EQ(error_of("|x 1 2 3|y\n|x 1 0:2 3|y\n"),
            "f.ctf:2:6: stream 'x': expected a number, found '0:2'; is the stream sparse?");
  EXPECT_EQ(error_of("|x 1 2|y\n"), "f.ctf:1:7: stream 'x': expected 3 values, found 2");
  EXPECT_EQ(error_of("|x|y\n"), "f.ctf:1:3: stream 'x': expected 3 values, found 0");
  EXPECT_EQ(error_of("|x 1 2 3 4 5 |y\n"), "f.ctf:1:10: stream 'x': expected 3 values, found 5");
  EXPECT_EQ(error_of("|x 1 2 3,5|y\n"), "f.ctf:1:8: stream 'x': expected a number, found '3,5'");
  EXPECT_EQ(error_of("|x 1 nan 3|y\n"),
            "f.ctf:1:6: stream 'x': expected a finite number, found 'nan'");
  EXPECT_EQ(error_of("|x 1 1e39 3|y\n"),
            "f.ctf:1:6: stream 'x': expected a number of f32, found '1e39'; declare the stream as "
            "f64");
  EXPECT_EQ(error_of("|x 1 2 3 |y 4:1\n"),
            "f.ctf:1:13: stream 'y': expected an index below 4, found '4:1'");
  EXPECT_EQ(error_of("|x 1 2 3 |y 2:1 1:1 2:5\n"),
            "f.ctf:1:13: stream 'y': expected every index once in a sample, found 2 twice");
  EXPECT_EQ(error_of("|x 1 2 3 |y 2:\n"),
            "f.ctf:1:15: stream 'y': expected a number, found the row's end");
  EXPECT_EQ(error_of("|x 1 2 3 |y -2:1\n"),
            "f.ctf:1:13: stream 'y': expected index:value, found '-2:1'");
  EXPECT_EQ(error_of("|x 1 2 3 | y 2:1\n"),
            "f.ctf:1:11: expected a field's name after '|', found ' '");
  EXPECT_EQ(error_of("0 x 1 2 3\n"), "f.ctf:1:3: expected '|' and a field's name, found 'x'");
  EXPECT_EQ(error_of("|x 1 2 3|y\n5 |x 1 2 3|y\n"),
            "f.ctf:2:1: expected no sequence id, as the first row has none, found '5'");
  EXPECT_EQ(error_of("|x 1 2 3 |y |x 1 2 3\n"),
            "f.ctf:1:14: stream 'x': expected one sample in a row, found a second one");
  EXPECT_EQ(
      error_of("3 |x 1 2 3\n3 |x 1 2 3\n4 |x 1 2 3|y\n"),
      "f.ctf:1:1: stream 'y': expected a sample in every sequence, found none in sequence 3; no "
      "row so far has the field 'y'");
  EXPECT_EQ(error_of("|x 1 2 3|y\n|x 1 2 3\n"),
            "f.ctf:2:1: stream 'y': expected a sample in every sequence, found none");
  EXPECT_EQ(error_of("3 |x 1 2 3\n3 |y 1:1\n"),
            "f.ctf:1:1: expected a stream with a sample in every row, found 2 rows and at most 1 "
            "samples in sequence 3");
  EXPECT_EQ(error_of("|x 1 2 \x01 |y\n"),
            "f.ctf:1:8: stream 'x': expected a number, found '\\x01'");
}

TEST_F(Ctf, ABadRowDropsItsSequenceInAllStreams) {
  const std::string content =
      "0 |x 1 1 1 |y 0:1\n1 |x 2 2 2 |y 0:1\n1 |x 2 2 |y 0:1\n1 |x 2 2 2 |y 0:1\n2 |x 3 3 3 |y "
      "1:1\n"
      "3 |x 4 4 4 |y 9:1\n4 |x 5 5 5 |y 2:1\n";
  const CTFDeserializer corpus = open(content, kXy, {.max_errors = 2});
  const auto chunk = corpus.load(0);
  ASSERT_EQ(corpus.chunk(0).sequences, 5);
  EXPECT_EQ(chunk->length(1), Chunk::kDropped);
  EXPECT_EQ(chunk->length(3), Chunk::kDropped);
  EXPECT_EQ(floats(chunk->read(4, 0, {}), 3), std::vector<float>({5, 5, 5}));
  corpus.load(0);  // the same again counts once
  const ReadProblems problems = corpus.problems();
  EXPECT_EQ(problems.errors, 2);
  ASSERT_EQ(problems.messages.size(), 2u);
  EXPECT_THAT(problems.messages[0], testing::EndsWith("f.ctf:3:10: stream 'x': expected 3 values, "
                                                      "found 2"));
  EXPECT_EQ(error_of(content, kXy, {.max_errors = 1}),
            "f.ctf:3:10: stream 'x': expected 3 values, found 2; max_errors allows 1 bad records, "
            "found 2");
}

TEST_F(Ctf, AChunkHoldsOnlyTheSequencesThatAreWanted) {
  const CTFDeserializer corpus = open("|x 1 1 1|y\n|x 2 2 2|y 0:1\n|x 3 3 3|y 1:1 2:2\n");
  const auto chunk = corpus.load(0, {false, false, true});
  EXPECT_EQ(chunk->length(0), 1);
  EXPECT_EQ(chunk->length(2), 1);
  EXPECT_EQ(floats(chunk->read(2, 0, {}), 3), std::vector<float>({3, 3, 3}));
  EXPECT_EQ(chunk->read(2, 1, {}).columns[1], 2);
}

// CNTK's own tests of what may stand at the end of a file, and a fault of its reader: it took any
// number of values there.
TEST_F(Ctf, CompatModeTakesASoundLastSampleWithoutALineEnd) {
  const std::vector<CtfStream> a = {{.name = "A", .dim = 2}};
  for (const char* text : {"", "\t", "  ", " -", " +", " 12.+", " 12.+e", " 1:", " 1 2 3"})
    EXPECT_NE(error_of(std::string("|A 1 2\n|A") + text, a, {.compat = true}), "") << text;
  for (const auto& [text, sum] : std::vector<std::pair<const char*, double>>{
           {" 1", 1}, {" -123", -123}, {" 45.", 45}, {" 6.78", 6.78f}, {" 9.10e-11", 9.10e-11f}}) {
    const Totals totals = totals_of(open(std::string("|A 0 0\n|A") + text, a, {.compat = true}));
    EXPECT_EQ(totals.streams.at("A").values, 4) << text;
    EXPECT_EQ(totals.streams.at("A").sum, sum) << text;
  }
  // Infinity and NaN as its arithmetic has them.
  const auto chunk = open("|A 1e999 0e999\n", a, {.compat = true}).load(0);
  const std::vector<float> odd = floats(chunk->read(0, 0, {}), 2);
  EXPECT_EQ(odd[0], INFINITY);
  EXPECT_TRUE(std::isnan(odd[1]));
  EXPECT_EQ(totals_of(open("|A 1-2\n", a, {.compat = true})).streams.at("A").sum, -1);
  EXPECT_EQ(totals_of(open("|A\t1 \t 2\t|y\n", a, {.compat = true})).streams.at("A").sum, 3);
}

TEST_F(Ctf, TheStreamThatCountsSaysHowLongASequenceIs) {
  std::vector<CtfStream> streams = kXy;
  streams[1].counts_samples = true;
  const CTFDeserializer corpus = open("0 |x 1 2 3\n0 |y 1:1\n0 |x 4 5 6\n", streams);
  EXPECT_EQ(corpus.load(0)->length(0), 1);
  EXPECT_EQ(corpus.load(0)->read(0, 0, {}).samples, 2);
}

TEST_F(Ctf, SkipsAByteOrderMarkAtTheStartOnly) {
  EXPECT_EQ(totals_of(open("\xEF\xBB\xBF|x 1 2 3|y\n")).sequences, 1);
  EXPECT_EQ(totals_of(open("\xEF\xBB\xBF"
                           "5 |x 1 2 3|y\n"))
                .sequences,
            1);
  EXPECT_EQ(error_of("\xEF\xBB\xBF|x 1 2|y\n"),
            "f.ctf:1:7: stream 'x': expected 3 values, found 2");
  EXPECT_THAT(error_of("|x 1 2 3|y\n\xEF\xBB\xBF|x 1 2 3|y\n"),
              testing::StartsWith("f.ctf:2:1: expected '|'"));
  EXPECT_THAT(error_of("\xFF\xFE|\0x\0"), testing::HasSubstr("UTF-16"));
  EXPECT_THAT(error_of("\xEF\xBB\xBF"), testing::HasSubstr("empty"));
  EXPECT_THAT(error_of(""), testing::HasSubstr("empty"));
  EXPECT_THAT(error_of("\n |# nothing\n"), testing::HasSubstr("no rows"));
}

TEST_F(Ctf, NamesMayBeAnyUtf8) {
  EXPECT_EQ(totals_of(open("|\xC3\xA9t\xC3\xA9 4\n",
                           {{.name = "s", .field = "\xC3\xA9t\xC3\xA9", .dim = 1}}))
                .streams.at("s")
                .sum,
            4);
}

TEST_F(Ctf, NoLocaleHasASay) {
  setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(totals_of(open("|x 0.5 0.125 1.5|y\n")).streams.at("x").sum, 2.125);
  EXPECT_THAT(error_of("|x 1 1 1,5|y\n"), testing::HasSubstr("found '1,5'"));
  setlocale(LC_ALL, "C");
}

TEST_F(Ctf, ReadsF64) {
  const CTFDeserializer corpus =
      open("|x 1e300 16777217 0.1|y 1:0.1\n",
           {{.name = "x", .dim = 3, .dtype = DType::f64}, {.name = "y", .dim = 2, .sparse = true}});
  const auto chunk = corpus.load(0);
  const auto* x = static_cast<const double*>(chunk->read(0, 0, {}).values);
  EXPECT_EQ(x[0], 1e300);
  EXPECT_EQ(x[1], 16777217);
  EXPECT_EQ(x[2], 0.1);
}

TEST_F(Ctf, SeveralFilesAreOneCorpus) {
  dir_.write("b1.ctf", "|x 1 2 3|y\n");
  dir_.write("b2.ctf", "|x 4 5 6|y\n|x 7 8 9|y\n");
  const CTFDeserializer corpus(dir_ / "b*.ctf", kXy);
  EXPECT_TRUE(corpus.has_chunk(1));
  EXPECT_FALSE(corpus.has_chunk(2));
  EXPECT_EQ(corpus.chunks(), 2);
  EXPECT_EQ(totals_of(corpus).streams.at("x").sum, 45);
  EXPECT_THAT(corpus.load(1)->where(1), testing::EndsWith("b2.ctf:2"));
  dir_.write("b3.ctf", "1 |x 4 5 6|y\n");
  EXPECT_THAT(error_text(ErrorKind::io, [&] { CTFDeserializer(dir_ / "b*.ctf", kXy).chunks(); }),
              testing::HasSubstr("some have sequence ids"));
  EXPECT_THAT(error_text(ErrorKind::io, [&] { CTFDeserializer(dir_ / "c*.ctf", kXy); }),
              testing::HasSubstr("no file is like"));
}

TEST_F(Ctf, ReadsGzipFiles) {
  std::string content;
  for (int i = 0; i < 20000; ++i) content += "|x 1 2 3 |y 1:0.5\n";
  gzFile file = gzopen((dir_ / "f.ctf.gz").c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  CTFDeserializer corpus(dir_ / "f.ctf.gz", kXy, {.chunk_bytes = 1 << 16});
  EXPECT_GT(corpus.chunks(), 3);
  const Totals totals = totals_of(corpus);
  EXPECT_EQ(totals.sequences, 20000);
  EXPECT_EQ(totals.streams.at("x").sum, 120000);
  EXPECT_THAT(corpus.load(0)->where(1), testing::EndsWith("f.ctf.gz:2"));
}

TEST_F(Ctf, RefusesStreamsThatDoNotFitTogether) {
  const auto refusal = [&](std::vector<CtfStream> streams) {
    dir_.write("f.ctf", "|x 1\n");
    return error_text(ErrorKind::invalid, [&] { CTFDeserializer(dir_ / "f.ctf", streams); });
  };
  EXPECT_THAT(refusal({}), testing::HasSubstr("no streams"));
  EXPECT_THAT(refusal({{.name = "x"}}), testing::HasSubstr("dim 0"));
  EXPECT_THAT(refusal({{.name = "x", .dim = 1}, {.name = "x", .dim = 2}}),
              testing::HasSubstr("'x'"));
  EXPECT_THAT(refusal({{.name = "a b", .dim = 1}}), testing::HasSubstr("'a b'"));
  EXPECT_THAT(refusal({{.name = "x", .dim = 1, .dtype = DType::i32}}), testing::HasSubstr("i32"));
}

}  // namespace
}  // namespace thalweg::data
