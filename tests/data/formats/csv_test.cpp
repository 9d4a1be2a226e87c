#include <clocale>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <thalweg/data/csv.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/csv_fields.h"
#include "data/formats/make.h"
#include "data/formats/mutate.h"
#include "data/formats/read_all.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct File {
  explicit File(const std::string& content) : path(dir.write("f.csv", content)) {}

  std::vector<std::string> read(std::vector<CSVStream> streams = {}, CSVOptions options = {},
                                size_t stream = 0) const {
    return read_stream(CSVDeserializer(path, streams, options), stream);
  }
  // Without the folder.
  std::string error(ErrorKind kind, std::vector<CSVStream> streams = {},
                    CSVOptions options = {}) const {
    std::string text = error_text(kind, [&] { read(streams, options); });
    for (size_t at; (at = text.find(dir.path())) != std::string::npos;)
      text.erase(at, dir.path().size() + 1);
    return text;
  }

  TempDir dir;
  std::string path;
};

TEST(CSV, MakesStreamsOfColumns) {
  const File file("id,x,y,label\n0,1.5,2,cat\n1,-3,4e2,dog\n");
  const std::vector<CSVStream> streams = {
      {.name = "features", .columns = {"y", "x"}},
      {.name = "label", .class_names = {"dog", "cat"}},
      {.name = "id", .dtype = DType::i64},
      {.name = "range", .columns = {"id..y"}, .dtype = DType::f64}};
  const CSVDeserializer data(file.path, streams);
  EXPECT_EQ(data.streams()[0].shape, Shape({2}));
  EXPECT_EQ(data.streams()[1].shape, Shape({}));
  EXPECT_EQ(data.streams()[1].dtype, DType::i64);
  EXPECT_THAT(read_stream(data, 0), ElementsAre("2 1.5", "400 -3"));
  EXPECT_THAT(read_stream(data, 1), ElementsAre("1", "0"));
  EXPECT_THAT(read_stream(data, 2), ElementsAre("0", "1"));
  EXPECT_THAT(read_stream(data, 3), ElementsAre("0 1.5 2", "1 -3 400"));
  EXPECT_EQ(data.load(0)->where(1), file.path + ":3");
}

TEST(CSV, GivesAStarTheColumnsThatAreLeft) {
  const File file("7,1,2\n8,3,4\n");
  EXPECT_THAT(file.read({{.name = "pixels", .columns = {"*"}}, {.name = "y", .columns = {"0"}}},
                        {.header = false}),
              ElementsAre("1 2", "3 4"));
}

// pandas-dev/pandas #4793: a byte-order mark before a quoted header.
TEST(CSV, SkipsAByteOrderMarkAtTheStartOnly) {
  const File quoted("\xef\xbb\xbf\"a\",\"b\"\r\n1,2\r\n");
  EXPECT_THAT(quoted.read({{.name = "a"}}), ElementsAre("1"));
  EXPECT_THAT(quoted.read({{.name = "b"}}), ElementsAre("2"));
  EXPECT_THAT(File("\xef\xbb\xbf"
                   "1,2\n")
                  .read({}, {.header = false}, 1),
              ElementsAre("2"));
  EXPECT_THAT(File("a\n\xef\xbb\xbf"
                   "1\n")
                  .error(ErrorKind::io, {{.name = "a"}}),
              HasSubstr("is not a number"));
  EXPECT_EQ(File("\xef\xbb\xbf").error(ErrorKind::io), "csv: the file is empty; f.csv");
  EXPECT_EQ(File("").error(ErrorKind::io), "csv: the file is empty; f.csv");
  EXPECT_THAT(File(std::string("\xff\xfe"
                               "a\0",
                               4))
                  .error(ErrorKind::io),
              HasSubstr("UTF-16"));
}

// pandas-dev/pandas #32134, dmlc/xgboost #2512.
TEST(CSV, KeepsLargeIntegersExactBesideMissingOnes) {
  const File file("id,v\n1,123\n2,\n3,1582218195625938945\n");
  EXPECT_THAT(file.read({{.name = "v", .dtype = DType::i64, .missing = -1}}),
              ElementsAre("123", "-1", "1582218195625938945"));
}

TEST(CSV, TakesWholeNumbersOnlyForIntegers) {
  const auto error = [](const std::string& text, DType dtype = DType::i64) {
    return File("v\n" + text + "\n").error(ErrorKind::io, {{.name = "v", .dtype = dtype}});
  };
  EXPECT_EQ(error("18446744073709551616"),
            "csv: field 1 ('v') is out of range; f.csv:2:1: expected i64, found "
            "'18446744073709551616'");
  EXPECT_THAT(error("-9223372036854775809"), HasSubstr("out of range"));
  for (const std::string text : {"0x10", "1e3", "1.0", "1 2", "--1", "+-1", "1x"})
    EXPECT_THAT(error(text), HasSubstr("is not a whole number")) << text;
  EXPECT_THAT(error("256", DType::u8), HasSubstr("out of range"));
  EXPECT_THAT(error("-1", DType::u8), HasSubstr("out of range"));
  EXPECT_THAT(error("1e39", DType::f32), HasSubstr("out of range"));
  EXPECT_THAT(error("0x1p3", DType::f32), HasSubstr("is not a number"));
  EXPECT_THAT(File("v\n+7\n-0\n").read({{.name = "v", .dtype = DType::i16}}),
              ElementsAre("7", "0"));
}

TEST(CSV, ReadsThePointInEveryLocaleAndAnotherSignIfToldTo) {
  const char* const before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string kept = before;
  std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
  const File file("0.5;1,5\n");
  const CSVStream a{.name = "a", .columns = {"0"}};
  const CSVStream b{.name = "b", .columns = {"1"}};
  EXPECT_THAT(file.read({a}, {.delimiter = ';', .header = false}), ElementsAre("0.5"));
  EXPECT_EQ(file.error(ErrorKind::io, {b}, {.delimiter = ';', .header = false}),
            "csv: field 2 ('1') is not a number; f.csv:1:5: expected f32, found '1,5'");
  EXPECT_THAT(file.read({b}, {.delimiter = ';', .header = false, .decimal = ','}),
              ElementsAre("1.5"));
  std::setlocale(LC_NUMERIC, kept.c_str());
}

TEST(CSV, ReadsQuotedFieldsWithDelimitersQuotesAndLineEnds) {
  const File file("\"a,b\",c\n\"x \"\"y\"\"\nz\",1\n\"\",2\n\n\"q\",3");
  const CSVStream text{.name = "a,b", .class_names = {"x \"y\"\nz", "", "q"}};
  EXPECT_THAT(file.read({text}), ElementsAre("0", "1", "2"));
  const CSVDeserializer data(file.path, {{.name = "c"}});
  EXPECT_THAT(read_stream(data, 0), ElementsAre("1", "2", "3"));
  EXPECT_EQ(data.load(0)->where(2), file.path + ":6");
}

TEST(CSV, RejectsQuotesThatDoNotFit) {
  EXPECT_EQ(File("a,b\n1,\"x\"y\n").error(ErrorKind::io),
            "csv: text after a closing quote; f.csv:2:6: expected ',' or the end of the row, found "
            "'y'; double quotes inside quotes");
  EXPECT_EQ(File("a,b\n1,\"x\n2,3\n").error(ErrorKind::io),
            "csv: a quote is not closed; f.csv:2:3: expected '\"' before the end of the file");
}

TEST(CSV, TakesQuotesInsideAFieldAsTheyAre) {
  const File file("size,n\n5\" disk,1\n3\",2\n");
  EXPECT_THAT(file.read({{.name = "size", .class_names = {"5\" disk", "3\""}}}),
              ElementsAre("0", "1"));
}

TEST(CSV, RejectsMissingValuesUnlessTheStreamSaysWhatTheyBecome) {
  const File file("a,b\n1,2\nNA,4\n5,\n");
  EXPECT_EQ(file.error(ErrorKind::io, {{.name = "a"}, {.name = "b"}}, {.missing_texts = {"NA"}}),
            "csv: field 1 ('a') is missing; f.csv:3:1: expected f32, found 'NA'");
  EXPECT_THAT(file.read({{.name = "a", .missing = 0.5}}, {.missing_texts = {"NA"}}),
              ElementsAre("1", "0.5", "5"));
  EXPECT_THAT(file.read({}, {.missing_texts = {"NA"}}), ElementsAre("1", "nan", "5"));
  EXPECT_THAT(file.error(ErrorKind::invalid, {{.name = "a", .dtype = DType::u8, .missing = -1}}),
              HasSubstr("cannot become -1; it is u8"));
}

TEST(CSV, RejectsRowsWithAnotherNumberOfFields) {
  EXPECT_EQ(File("a,b\n1,2\n3\n").error(ErrorKind::io),
            "csv: a row has another number of fields; f.csv:3: expected 2, found 1");
  EXPECT_THAT(File("a,b\n1,2,3\n").error(ErrorKind::io), HasSubstr("expected 2, found 3"));
}

TEST(CSV, NamesTheColumnsThereAre) {
  EXPECT_THAT(File("lable,x\n1,2\n").error(ErrorKind::invalid, {{.name = "label"}}),
              StartsWith("csv: no column is called 'label'; f.csv has 2 columns: lable, x; did you "
                         "mean 'lable'?"));
  EXPECT_THAT(File("a,a\n1,2\n").error(ErrorKind::invalid, {{.name = "a"}}),
              HasSubstr("two columns are called 'a'"));
  EXPECT_THAT(File("a,b\n1,2\n").error(ErrorKind::invalid, {{.name = "s", .columns = {"b..a"}}}),
              HasSubstr("ends before it begins"));
}

TEST(CSV, DropsBadRowsWithinTheBudgetAndCountsEachOnce) {
  const File file("a\n1\nx\n3\ny\n5\n");
  const CSVDeserializer data(file.path, {{.name = "a"}}, {.max_errors = 2});
  for (int pass = 0; pass < 2; ++pass)
    EXPECT_THAT(read_stream(data, 0), ElementsAre("1", "dropped", "3", "dropped", "5"));
  EXPECT_EQ(data.problems().errors, 2);
  EXPECT_THAT(data.problems().messages[1], HasSubstr("f.csv:5:1: expected f32, found 'y'"));
  EXPECT_EQ(file.error(ErrorKind::io, {{.name = "a"}}, {.max_errors = 1}),
            "csv: field 1 ('a') is not a number; f.csv:5:1: expected f32, found 'y'; 1 bad records "
            "were dropped before, and max_errors allows 1");
}

TEST(CSV, MakesSequencesOfRowsOfOneKey) {
  const File file("who,x\nann,1\nann,2\nbob,3\nann,4\n");
  const CSVDeserializer data(file.path, {{.name = "x"}}, {.key = "who"});
  EXPECT_THAT(read_stream(data, 0), ElementsAre("1 | 2", "3", "4"));
  EXPECT_EQ(data.key_kind(), KeyKind::text);
  EXPECT_EQ(data.key(0, 1), SequenceKey("bob"));
  EXPECT_EQ(data.load(0)->length(0), 2);
}

TEST(CSV, GivesTheSameRowsWhateverTheChunks) {
  std::string content = "k,v\n";
  std::vector<std::string> expected;
  for (int i = 0; i < 500; ++i) {
    content += fmt::format("{},{}\n{}", i / 3, i, i % 7 == 0 ? "\n" : "");
    if (i % 3 == 0)
      expected.push_back(std::to_string(i));
    else
      expected.back() += fmt::format(" | {}", i);
  }
  const File file(content);
  int64_t last = 0;
  for (size_t limit : {1, 300, 3000, 100000}) {
    CSVDeserializer data(file.path, {{.name = "v"}}, {.key = "k"});
    data.limit_chunks(limit);
    EXPECT_EQ(read_stream(data, 0), expected);
    for (int64_t c = 0; c < data.chunks() && limit > 100; ++c)
      EXPECT_LE(data.chunk(c).bytes + data.chunk(c).load_bytes, limit);
    EXPECT_TRUE(last == 0 || data.chunks() < last);
    last = data.chunks();
  }
  EXPECT_EQ(last, 1);
}

TEST(CSV, FindsStreamsInTheNamesOfColumns) {
  const File file("key,x_0,x_1,y,z_0\na,1,2,3,4\na,5,6,7,8\n");
  const CSVDeserializer data(file.path);
  ASSERT_EQ(data.streams().size(), 3u);
  EXPECT_EQ(data.streams()[0].name, "x");
  EXPECT_EQ(data.streams()[2].name, "z");
  EXPECT_THAT(read_stream(data, 0), ElementsAre("1 2 | 5 6"));
  EXPECT_THAT(read_stream(data, 2), ElementsAre("4 | 8"));
}

TEST(CSV, ReadsGzipFilesAChunkAtATime) {
  const TempDir dir;
  gzFile file = gzopen((dir / "f.csv.gz").c_str(), "wb");
  gzputs(file, "a,b\n1,2\n3,4\n5,6\n");
  gzclose(file);
  CSVDeserializer data(dir / "f.csv.gz");
  data.limit_chunks(1);
  EXPECT_EQ(data.chunks(), 3);
  EXPECT_THAT(read_stream(data, 1), ElementsAre("2", "4", "6"));
}

TEST(CSV, SaysThatAFileHasChangedWhileItIsRead) {
  const File file("a\n1\n2\n");
  CSVDeserializer data(file.path);
  ASSERT_TRUE(data.has_chunk(0));
  file.dir.write("f.csv", "a\n1\n");
  EXPECT_THAT(error_text(ErrorKind::io, [&] { data.load(0); }), HasSubstr("has changed"));
}

TEST(CSV, ReadsBackFieldsThatItWrites) {
  Philox random(5);
  const std::string alphabet = "a,\"\n\r ;x1";
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> fields(1 + random.bounded(4));
    std::string row;
    for (std::string& field : fields) {
      for (uint32_t n = random.bounded(6); n > 0; --n)
        field += alphabet[random.bounded(static_cast<uint32_t>(alphabet.size()))];
      row += (row.empty() ? "" : ",") + csv_field(field, ',');
    }
    row += "\n";
    ASSERT_EQ(csv_row_end(row + "next", 0, ','), row.size()) << row;
    CsvSplitter splitter(',');
    std::vector<std::string> back;
    for (const CsvField& field :
         splitter.split(std::string_view(row).substr(0, row.size() - 1), "f"))
      back.emplace_back(field.text);
    ASSERT_EQ(back, fields) << row;
  }
}

TEST(CSV, SurvivesMutatedFiles) {
  const auto read = [](const std::string& bytes) {
    read_stream(*make_csv(open_source(as_bytes(bytes), "f"), {{.name = "a"}, {.name = "b"}}, {}),
                0);
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("csv"), 20000, 6, read), 10000);
}

}  // namespace
}  // namespace thalweg::data
