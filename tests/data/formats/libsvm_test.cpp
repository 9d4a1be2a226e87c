#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/libsvm.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/make.h"
#include "data/formats/mutate.h"
#include "data/formats/read_all.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct File {
  explicit File(const std::string& content) : path(dir.write("f.svm", content)) {}

  std::vector<std::string> read(LIBSVMOptions options = {.dim = 100}, size_t stream = 0) const {
    return read_stream(LIBSVMDeserializer(path, options), stream);
  }
  std::string error(LIBSVMOptions options = {.dim = 100}) const {
    std::string text = error_text(ErrorKind::io, [&] { read(options); });
    const size_t at = text.find(dir.path());
    return at == std::string::npos ? text : text.erase(at, dir.path().size() + 1);
  }

  TempDir dir;
  std::string path;
};

TEST(LIBSVM, ReadsLabelsAndSparseFeatures) {
  const File file("+1 1:0.5 3:-2\n-1 2:1e-3\n");
  const LIBSVMDeserializer data(file.path, {.dim = 3, .class_names = {"-1", "+1"}});
  EXPECT_TRUE(data.streams()[0].sparse);
  EXPECT_EQ(data.streams()[0].shape, Shape({3}));
  EXPECT_THAT(read_stream(data, 0), ElementsAre("0:0.5 2:-2", "1:0.0010000000474974513"));
  EXPECT_THAT(read_stream(data, 1), ElementsAre("1", "0"));
  EXPECT_THAT(file.read({.dim = 3}, 1), ElementsAre("1", "-1"));
}

// mathurinm/libsvmdata PR #6 and others: blanks, empty rows, comments, qid, CR.
TEST(LIBSVM, ReadsBlanksEmptyRowsCommentsAndQueriesAsTheClassicReaderDoes) {
  EXPECT_THAT(File("0 21:1.00 42:1.00 63: .50\n").read(), ElementsAre("20:1 41:1 62:0.5"));
  EXPECT_THAT(File("1 \n\n# note\n1 qid:3 1:2 # c 9:9\n1 1:2 \r\n").read(),
              ElementsAre("", "0:2", "0:2"));
  EXPECT_THAT(File("1 3:1").read(), ElementsAre("2:1"));
  EXPECT_THAT(File("\xef\xbb\xbf"
                   "1 3:1\n")
                  .read(),
              ElementsAre("2:1"));
}

TEST(LIBSVM, RejectsIndicesOutOfOrderUnlessToldToSort) {
  EXPECT_EQ(File("0 1:1\n1 3:1 2:5\n").error(),
            "libsvm: malformed row; f.svm:2:7: index 2 comes after 3; set sort to allow it");
  EXPECT_THAT(File("1 3:1 2:5\n").read({.dim = 9, .sort = true}), ElementsAre("1:5 2:1"));
  EXPECT_THAT(File("1 2:1 2:5\n").error(), HasSubstr("f.svm:1:7: index 2 comes twice"));
  EXPECT_THAT(File("1 2:1 1:1 2:5\n").error({.dim = 9, .sort = true}),
              HasSubstr("index 2 comes twice in the row"));
}

TEST(LIBSVM, SaysWhatItExpectedAndFound) {
  EXPECT_EQ(File("1 3\n").error(),
            "libsvm: malformed row; f.svm:1:3: expected index:value, found '3'");
  EXPECT_EQ(File("1 3:\n").error(),
            "libsvm: malformed row; f.svm:1:3: expected a number as the value of index 3, found '' "
            "(not a number)");
  EXPECT_THAT(File("1 3: 4:5\n").error(), HasSubstr("found '4:5'"));
  EXPECT_EQ(
      File("1 0:1\n").error(),
      "libsvm: malformed row; f.svm:1:3: expected an index from 1 to 100, found '0'; check dim "
      "and index_base");
  EXPECT_THAT(File("1 100:1\n").error({.dim = 100, .index_base = 0}),
              HasSubstr("expected an index from 0 to 99, found '100'"));
  EXPECT_THAT(File("1 99999999999999999999:1\n").error(), HasSubstr("expected an index"));
  EXPECT_THAT(File("2 1:1\n").error({.dim = 9, .class_names = {"0", "1"}}),
              HasSubstr("expected a label among the class names, found '2'"));
  EXPECT_THAT(File("1 1:2 qid:1\n").error(), HasSubstr("right after the label"));
}

// dmlc/xgboost PR #4862, lightgbm-org/LightGBM #4180: a CSV is no LIBSVM, nor with a colon in it.
TEST(LIBSVM, DoesNotTakeACSVForOne) {
  EXPECT_THAT(File("1,2,3\n").error(), HasSubstr("expected a label, a number, found '1,2,3'"));
  EXPECT_THAT(File("time,x\n12:30,1\n").error(), HasSubstr("found 'time,x'"));
}

TEST(LIBSVM, RefusesToGuessTheNumberOfFeatures) {
  EXPECT_THAT(
      error_text(ErrorKind::invalid, [] { make_libsvm(open_source(as_bytes("1"), "f"), {}); }),
      HasSubstr("set dim to the number of features"));
}

TEST(LIBSVM, SaysThatAFileHasNoSamples) {
  EXPECT_EQ(File("# only a note\n\n").error(), "libsvm: the file has no samples; f.svm");
  EXPECT_EQ(File("").error(), "libsvm: the file is empty; f.svm");
}

TEST(LIBSVM, DropsAWholeRowAndNoMore) {
  const File file("1 1:1 x\n2 2:2\n");
  EXPECT_THAT(file.read({.dim = 9, .max_errors = 1}), ElementsAre("dropped", "1:2"));
}

TEST(LIBSVM, ReadsOnlyTheRowsThatAreWanted) {
  const File file("1 1:1\nbad\n3 3:3\n");
  const LIBSVMDeserializer data(file.path, {.dim = 9});
  const auto chunk = data.load(0, {false, false, true});
  EXPECT_EQ(chunk->length(1), 1);
  EXPECT_EQ(text_of(data.streams()[0], chunk->read(2, 0, {})), "2:3");
}

TEST(LIBSVM, ReadsBackWhatItWrites) {
  Philox random(9);
  for (int round = 0; round < 50; ++round) {
    const int64_t base = random.bounded(2);
    MemoryWriter writer;
    std::vector<std::string> expected;
    std::vector<std::string> labels;
    for (int row = 0; row < 20; ++row) {
      std::vector<int32_t> columns;
      std::vector<float> values;
      std::vector<std::string> words;
      for (int32_t c = 0; c < 30; ++c) {
        if (random.bounded(4) > 0) continue;
        columns.push_back(c);
        values.push_back(std::bit_cast<float>(random.next() & 0xBFFFFFFF));  // finite
        words.push_back(fmt::format("{}:{}", c, static_cast<double>(values.back())));
      }
      const float label = random.normal();
      write_libsvm_row(writer, label, columns, values, base);
      expected.push_back(fmt::format("{}", fmt::join(words, " ")));
      labels.push_back(fmt::format("{}", static_cast<double>(label)));
    }
    const File file{std::string(as_text(writer.bytes()))};
    const LIBSVMOptions options{.dim = 30, .index_base = base};
    ASSERT_EQ(file.read(options), expected);
    ASSERT_EQ(file.read(options, 1), labels);
  }
}

TEST(LIBSVM, SurvivesMutatedFiles) {
  const auto read = [](const std::string& bytes) {
    read_stream(*make_libsvm(open_source(as_bytes(bytes), "f"), {.dim = 50}), 0);
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("libsvm"), 20000, 7, read), 7000);
}

}  // namespace
}  // namespace thalweg::data
