// Damaged rows: each gives an error or samples that are what the streams say, in every mode of the
// parser. THALWEG_FUZZ_ROUNDS asks for more rounds than the suite has time for.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/philox.h>

#include "data/formats/ctf_compat.h"
#include "data/formats/ctf_parser.h"
#include "data/formats/ctf_scanner.h"
#include "data/formats/decimal.h"
#include "data/formats/mutate.h"

namespace thalweg::data {
namespace {

const char* const kPieces[] = {"|",
                               "|F",
                               "|L ",
                               ":",
                               "\n",
                               " ",
                               "#",
                               "-",
                               ".",
                               "e",
                               "1",
                               "\t",
                               "\r",
                               "0:1",
                               "nan",
                               "1e999",
                               "18446744073709551616",
                               "\xC3"};

std::string mutated(const std::vector<std::string>& seeds, Philox& random) {
  std::string text = seeds[random.bounded(static_cast<uint32_t>(seeds.size()))];
  for (uint32_t n = 1 + random.bounded(4); n > 0 && !text.empty(); --n) {
    const uint32_t at = random.bounded(static_cast<uint32_t>(text.size()));
    switch (random.bounded(6)) {
      case 0:
        text[at] ^= static_cast<char>(1u << random.bounded(8));
        break;
      case 1:
        text[at] = static_cast<char>(random.bounded(256));
        break;
      case 2:
        text.resize(at + 1);
        break;
      case 3:
        text.erase(at, 1 + random.bounded(4));
        break;
      case 4:
        text.insert(at, text.substr(random.bounded(static_cast<uint32_t>(text.size())), 8));
        break;
      default:
        text.insert(at, kPieces[random.bounded(std::size(kPieces))]);
    }
  }
  return text;
}

CtfRules rules_for(uint32_t kind) {
  CtfRules rules;
  rules.streams = {{"F", "F", 3, false, (kind & 1) != 0 ? DType::f64 : DType::f32},
                   {"L", "L", 10, true, (kind & 2) != 0 ? DType::f64 : DType::f32}};
  rules.compat = (kind & 4) != 0;
  rules.skip_sequence_ids = (kind & 8) != 0;
  rules.counting = (kind & 16) != 0 ? 0 : -1;
  return rules;
}

void check(const CtfRules& rules, SampleTable& table, const CtfReport& report) {
  for (int64_t s = 0; s < table.sequences(); ++s) {
    if (table.length(s) == Chunk::kDropped) {
      ASSERT_GT(report.errors, 0);
      continue;
    }
    for (size_t i = 0; i < rules.streams.size(); ++i) {
      const StreamValues values = table.read(s, i);
      ASSERT_GT(values.samples, 0);
      if (!rules.streams[i].sparse) continue;
      for (int64_t v = values.row_starts[0]; v < values.row_starts[values.samples]; ++v) {
        ASSERT_GE(values.columns[v], 0);
        ASSERT_LT(values.columns[v], 10);
      }
    }
  }
}

struct Parsed {
  SampleTable table;
  CtfReport report;
  bool failed = false;  // beyond what is dropped

  bool is_good() const { return !failed && report.errors == 0; }
};

Parsed parse(const CtfRules& rules, const std::string& text) {
  // No byte beyond the padding is there to be read.
  const size_t size = text.size() + kDecimalPadding;
  const auto exact = std::make_unique<char[]>(size);
  std::fill(std::copy(text.begin(), text.end(), exact.get()), exact.get() + size, '\n');
  const std::string_view view(exact.get(), text.size());
  Parsed parsed;
  for (const CtfStream& stream : rules.streams)
    parsed.table.streams().emplace_back(stream.dim, stream.sparse, stream.dtype);
  try {
    CtfScanner scanner(rules);
    scanner.scan(view, 0, true, [](const CtfSequence&) {});
    Column<uint32_t> lines;
    if (rules.compat) {
      parse_ctf_compat(rules, scanner.mode(), view, {"f"}, parsed.table, parsed.report, lines);
    } else {
      parse_ctf(rules, scanner.mode(), view, {{}}, parsed.table, parsed.report, lines);
    }
    check(rules, parsed.table, parsed.report);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    parsed.failed = true;
  }
  return parsed;
}

TEST(CtfFuzz, SurvivesMutatedRows) {
  const int64_t rounds = fuzz_rounds(20000);
  const std::vector<std::string> corpus = fuzz_corpus("ctf");
  Philox random(1);
  int64_t errors = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    const std::string text = mutated(corpus, random);
    errors += !parse(rules_for(random.bounded(32)), text).is_good();
    if (testing::Test::HasFatalFailure()) FAIL() << text;
  }
  EXPECT_GT(errors, rounds / 4);
  EXPECT_LT(errors, rounds);
}

// All numbers of a stream, one after the other, in f64.
std::vector<double> numbers_of(const SampleTable& table, size_t stream, bool sparse) {
  std::vector<double> numbers;
  for (int64_t s = 0; s < table.sequences(); ++s) {
    const StreamValues values = table.read(s, stream);
    const auto* data = static_cast<const double*>(values.values);
    const int64_t begin = sparse ? values.row_starts[0] : 0;
    const int64_t end = sparse ? values.row_starts[values.samples] : 3 * values.samples;
    numbers.push_back(static_cast<double>(values.samples));
    numbers.insert(numbers.end(), data + begin, data + end);
  }
  return numbers;
}

// Two parsers that share no code but the finding of sequences.
TEST(CtfFuzz, BothParsersReadTheSameWhereBothAreContent) {
  const std::vector<std::string> corpus = {
      "0 |F 1 2.5 -3 |L 0:1 3:2\n0\t|F 4\t5 61|L 1:1\n1 |F 7 8e-1 0.125 |L 2:1 |# note\n",
      "|F 0.123456 12345678 -1.5e-3 |L 1:0.5 4:22 9:-1\n|L 7:1 5:2|F 0 0 255\n"};
  Philox random(2);
  int compared = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = mutated(corpus, random);
    CtfRules rules = rules_for(3 + 8 * random.bounded(4));
    Parsed strict = parse(rules, text);
    rules.compat = true;
    Parsed compat = parse(rules, text);
    if (!strict.is_good() || !compat.is_good() || compat.report.warnings > 0) continue;
    ++compared;
    ASSERT_EQ(strict.table.sequences(), compat.table.sequences()) << text;
    const std::vector<double> dense = numbers_of(compat.table, 0, false);
    const std::vector<double> got = numbers_of(strict.table, 0, false);
    ASSERT_EQ(got.size(), dense.size()) << text;
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], dense[i], 1e-12 * std::abs(dense[i])) << text;
    // The strict one sorts by column.
    std::vector<double> a = numbers_of(strict.table, 1, true);
    std::vector<double> b = numbers_of(compat.table, 1, true);
    std::ranges::sort(a);
    std::ranges::sort(b);
    ASSERT_EQ(a.size(), b.size()) << text;
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12 * std::abs(b[i])) << text;
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace thalweg::data
