// CNTK's own test files, read as CNTK reads them and by the strict grammar. The numbers are those
// of its tests' expected output, added up.

#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/file.h>
#include <thalweg/data/ctf.h>

#include "base/expect_error.h"
#include "data/corpus_totals.h"
#include "data/formats/ctf_compat.h"
#include "data/formats/decimal.h"

namespace thalweg::data {
namespace {

class CtfConformance : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("THALWEG_CONFORMANCE_DATA");
    if (folder != nullptr) folder_ = std::string(folder) + "/cntk/";
    try {
      read_file(folder_ + "ctf/1x1_dense.txt");
    } catch (const Error&) {
      GTEST_SKIP() << "no files of CNTK in THALWEG_CONFORMANCE_DATA";
    }
  }
  std::string path(const std::string& name) const { return folder_ + name; }
  std::string folder_;
};

CtfStream dense(const char* name, int64_t dim) {
  return {.name = name, .dim = dim, .dtype = DType::f64};
}
CtfStream sparse(const char* name, int64_t dim) {
  return {.name = name, .dim = dim, .sparse = true, .dtype = DType::f64};
}

struct Expected {
  const char* file;
  std::vector<CtfStream> streams;
  int64_t sequences, samples, longest;
  std::vector<StreamTotals> totals;  // values -1: not known
  bool only_compat = false;
};

std::vector<Expected> golden_table() {
  return {
      {"1x1_dense.txt", {dense("F", 10000)}, 1, 1, 1, {{1, 10000, -2.02261e38}}},
      {"1x2_dense.txt", {dense("F0", 100)}, 1, 2, 2, {{2, 200, -6.41172906e16}}},
      {"1x10_dense.txt", {dense("F0", 10)}, 1, 10, 10, {{10, 100, -1.8838234e10}}},
      {"10x10_dense.txt", {dense("F0", 5)}, 10, 100, 10, {{100, 500, 1.28132096e20}}},
      {"100x1_dense.txt",
       {dense("F", 100), dense("L", 100)},
       100,
       100,
       1,
       {{100, 10000, 42163.99}, {100, 10000, 4927.86286}}},
      {"MNIST_dense.txt",
       {dense("F", 784), dense("L", 10)},
       1000,
       1000,
       1,
       {{1000, 784000, 26378591}, {1000, 10000, 1000}}},
      {"Simple_dense.txt",
       {dense("F", 2), dense("L", 2)},
       10000,
       10000,
       1,
       {{10000, 20000, -17.0926741}, {10000, 20000, 10000}}},
      {"50x20_jagged_sequences_dense.txt",
       {dense("F0", 3)},
       50,
       508,
       19,
       {{508, 1524, 1.42057e44}}},
      {"5x10_jagged.txt", {dense("F0", 10)}, 5, 25, 7, {{25, 250, -1.67637264e10}}},
      {"5x5_jagged.txt", {dense("F1", 5)}, 5, 30, 10, {{30, 150, 3.09575759e15}}},
      {"5x10_and_5x5_jagged.txt",
       {dense("F0", 10), dense("F1", 5)},
       5,
       40,
       10,
       {{25, 250, -1.67637264e10}, {30, 150, 3.09575759e15}}},
      {"1x1_sparse.txt", {sparse("F0", 10000)}, 1, 1, 1, {{1, 1000, 5.90258e29}}},
      {"1x2_sparse.txt", {sparse("F0", 1000)}, 1, 2, 2, {{2, 200, -2.60834355e16}}},
      {"1x10_sparse.txt", {sparse("F0", 100)}, 1, 10, 10, {{10, 100, -1.72907002e22}}},
      {"10x10_sparse.txt", {sparse("F0", 100)}, 10, 100, 10, {{100, 500, 8.28915842e22}}},
      {"100x100_jagged_sparse.txt",
       {sparse("F0", 20)},
       100,
       4887,
       100,
       {{4887, 45840, -2.51184801e37}}},
      {"space_separated.txt",
       {dense("F1", 15), dense("F2", 12), dense("F3", 1)},
       1,
       2,
       2,
       {{2, 30, -0.933491369}, {2, 24, 1.61136052}, {2, 2, 1910.97263}}},
      {"missing_trailing_newline.txt", {dense("features", 1)}, 1, 2, 2, {{2, 2, 3}}},
      {"ref_data_with_escape_sequences.txt",
       {sparse("F0", 100), dense("F1", 3)},
       3,
       9,
       3,
       {{9, 18, -107909611.44923936}, {4, 12, 111.95398}}},
      {"SequenceClassification_Train.ctf",
       {sparse("x", 2000), dense("y", 5)},
       1247,
       5433,
       13,
       {{5433, 5433, 5433}, {1247, 6235, 1247}}},
      {"CMUDict_tiny.ctf", {sparse("S0", 69), sparse("S1", 69)}, 1, 7, 7, {{7, 7, 7}, {7, 7, 7}}},
      {"empty_samples.txt",
       {dense("F0", 10), sparse("F1", 10)},
       3,
       6,
       2,
       {{6, 60, -6.4265e20}, {5, 6, 9.2584884}},
       true},
  };
}

void expect_totals(const Expected& expected, const Totals& totals) {
  EXPECT_EQ(totals.sequences, expected.sequences) << expected.file;
  EXPECT_EQ(totals.longest, expected.longest) << expected.file;
  for (size_t i = 0; i < expected.streams.size(); ++i) {
    const StreamTotals& stream = totals.streams.at(expected.streams[i].name);
    EXPECT_EQ(stream.samples, expected.totals[i].samples) << expected.file;
    EXPECT_EQ(stream.values, expected.totals[i].values) << expected.file;
    EXPECT_NEAR(stream.sum, expected.totals[i].sum, std::abs(expected.totals[i].sum) * 5e-6)
        << expected.file << " " << expected.streams[i].name;
  }
}

TEST_F(CtfConformance, ReadsEveryFileOfTheGoldenTableInCompatMode) {
  for (const Expected& expected : golden_table()) {
    const CTFDeserializer corpus(path("ctf/") + expected.file, expected.streams, {.compat = true});
    expect_totals(expected, totals_of(corpus));
    EXPECT_EQ(corpus.problems().errors, 0);
  }
}

TEST_F(CtfConformance, ReadsTheSoundOnesByTheStrictGrammarToo) {
  for (const Expected& expected : golden_table()) {
    if (expected.only_compat) continue;
    const CTFDeserializer corpus(path("ctf/") + expected.file, expected.streams);
    expect_totals(expected, totals_of(corpus));
    EXPECT_EQ(corpus.problems().errors, 0);
  }
}

TEST_F(CtfConformance, GivesTheWarningsOfCntkForItsInvalidFile) {
  const std::vector<CtfStream> streams = {dense("A", 1), sparse("B", 10)};
  const std::string file = path("ctf/invalid_inputs.txt");
  const CTFDeserializer corpus(file, streams, {.compat = true, .max_errors = 28});
  const Totals totals = totals_of(corpus);
  EXPECT_EQ(totals.sequences, 7);
  EXPECT_EQ(totals.longest, 9);
  EXPECT_EQ(totals.streams.at("A").samples, 26);
  EXPECT_EQ(totals.streams.at("A").sum, 335);
  EXPECT_EQ(totals.streams.at("B").samples, 27);
  EXPECT_EQ(totals.streams.at("B").sum, 131);
  const ReadProblems problems = corpus.problems();
  EXPECT_EQ(problems.errors, 28);
  EXPECT_EQ(problems.warnings, 39);

  const CTFDeserializer poorer(file, streams, {.compat = true, .max_errors = 27});
  EXPECT_THAT(error_text(ErrorKind::io, [&] { totals_of(poorer); }),
              testing::StartsWith("Reached the maximum number of allowed errors"));
}

TEST_F(CtfConformance, GivesTheWarningsOfCntkWordForWord) {
  const std::string text = read_file(path("ctf/invalid_inputs.txt"));
  const std::string padded = text + std::string(kDecimalPadding, '\n');
  const CtfRules rules{{{"A", "A", 1}, {"B", "B", 10, true}}, true};
  SampleTable table;
  table.streams().emplace_back(1, false, DType::f32);
  table.streams().emplace_back(10, true, DType::f32);
  CtfReport report;
  report.kept = 100;
  Column<uint32_t> lines;
  parse_ctf_compat(rules, CtfMode::ids, {padded.data(), text.size()}, {"invalid_inputs.txt"}, table,
                   report, lines);
  EXPECT_EQ(report.errors, 28);

  std::vector<std::string> expected;
  const std::string log = read_file(path("ctf_control/invalid_inputs_Control.txt"));
  for (size_t at = 0, next = 0; at < log.size(); at = next) {
    next = std::min(log.find("\nWARNING: ", at), log.find("\nINFO: ", at));
    next = next == log.npos ? log.size() : next + 1;
    if (log.compare(at, 8, "WARNING:") != 0) continue;
    expected.push_back(log.substr(at, next - at - 1));
  }
  ASSERT_EQ(expected.size(), 39u);
  std::vector<std::string> warnings;
  for (const CtfProblem& problem : report.problems) warnings.push_back(problem.text);
  EXPECT_EQ(warnings, expected);
}

TEST_F(CtfConformance, BlankLinesAreAsInCntk) {
  const std::string file = path("ctf/contains_blank_lines.txt");
  const std::vector<CtfStream> streams = {dense("features", 1)};
  std::vector<CtfStream> counting = streams;
  counting[0].counts_samples = true;
  error_text(ErrorKind::io, [&] { totals_of(CTFDeserializer(file, streams, {.compat = true})); });
  EXPECT_THAT(error_text(ErrorKind::io,
                         [&] {
                           totals_of(CTFDeserializer(
                               file, streams,
                               {.compat = true, .max_errors = 9, .skip_sequence_ids = true}));
                         }),
              testing::HasSubstr("Bailing out"));
  const CTFDeserializer ids(file, streams, {.compat = true, .max_errors = 2});
  EXPECT_EQ(totals_of(ids).sequences, 2);
  EXPECT_EQ(ids.problems().errors, 2);
  EXPECT_EQ(ids.problems().warnings, 4);
  const CTFDeserializer main(file, counting, {.compat = true, .skip_sequence_ids = true});
  EXPECT_EQ(totals_of(main).streams.at("features").sum, 3);
  EXPECT_EQ(main.problems().errors, 0);
  // Blank rows are no rows.
  const CTFDeserializer strict(file, streams);
  EXPECT_EQ(totals_of(strict).sequences, 2);
  EXPECT_EQ(totals_of(strict).samples, 2);
}

TEST_F(CtfConformance, AStreamTwiceInARowIsAsInCntk) {
  const std::string file = path("ctf/duplicate_inputs.txt");
  const std::vector<CtfStream> streams = {dense("F1", 1), dense("F2", 1)};
  std::vector<CtfStream> counting = streams;
  counting[0].counts_samples = true;
  for (const bool compat : {false, true}) {
    error_text(ErrorKind::io,
               [&] { totals_of(CTFDeserializer(file, streams, {.compat = compat})); });
    const Totals totals = totals_of(CTFDeserializer(file, counting, {.compat = compat}));
    EXPECT_EQ(totals.samples, 1);
    EXPECT_EQ(totals.streams.at("F2").samples, 2);
    EXPECT_EQ(totals.streams.at("F2").sum, 5);
  }
}

TEST_F(CtfConformance, WarnsOfShortSamplesAndAMissingLastLineEnd) {
  const CTFDeserializer empty(path("ctf/empty_samples.txt"), {dense("F0", 10), sparse("F1", 10)},
                              {.compat = true});
  totals_of(empty);
  EXPECT_EQ(empty.problems().warnings, 3);
  const CTFDeserializer last(path("ctf/missing_trailing_newline.txt"), {dense("features", 1)},
                             {.compat = true});
  totals_of(last);
  EXPECT_EQ(last.problems().warnings, 3);
}

}  // namespace
}  // namespace thalweg::data
