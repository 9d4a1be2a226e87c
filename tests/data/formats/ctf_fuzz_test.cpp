// Damaged rows: each gives an error or samples that are what the streams say, in every mode of the
// parser. THALWEG_FUZZ_ROUNDS asks for more rounds than the suite has time for.

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/file.h>
#include <thalweg/base/philox.h>

#include "data/formats/ctf_compat.h"
#include "data/formats/ctf_parser.h"
#include "data/formats/ctf_scanner.h"
#include "data/formats/decimal.h"

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

std::vector<std::string> seeds() {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(THALWEG_TEST_FOLDER "/../fuzz/ctf"))
    paths.insert(entry.path());
  std::vector<std::string> texts;
  for (const std::string& path : paths) texts.push_back(read_file(path));
  return texts;
}

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

// Whether it had errors.
bool parse(const CtfRules& rules, const std::string& text) {
  // No byte beyond the padding is there to be read.
  const size_t size = text.size() + kDecimalPadding;
  const auto exact = std::make_unique<char[]>(size);
  std::fill(std::copy(text.begin(), text.end(), exact.get()), exact.get() + size, '\n');
  const std::string_view view(exact.get(), text.size());
  CtfReport report;
  try {
    CtfScanner scanner(rules);
    scanner.scan(view, 0, true, [](const CtfSequence&) {});
    SampleTable table;
    for (const CtfStream& stream : rules.streams)
      table.streams().emplace_back(stream.dim, stream.sparse, stream.dtype);
    Column<uint32_t> lines;
    if (rules.compat) {
      parse_ctf_compat(rules, scanner.mode(), view, {"f"}, table, report, lines);
    } else {
      parse_ctf(rules, scanner.mode(), view, {{}}, table, report, lines);
    }
    check(rules, table, report);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    return true;
  }
  return report.errors > 0;
}

TEST(CtfFuzz, SurvivesMutatedRows) {
  const char* asked = std::getenv("THALWEG_FUZZ_ROUNDS");
  const int64_t rounds = asked == nullptr ? 20000 : std::atoll(asked);
  const std::vector<std::string> corpus = seeds();
  Philox random(1);
  int64_t errors = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    const std::string text = mutated(corpus, random);
    errors += parse(rules_for(random.bounded(32)), text);
    if (testing::Test::HasFatalFailure()) FAIL() << text;
  }
  EXPECT_GT(errors, rounds / 4);
  EXPECT_LT(errors, rounds);
}

}  // namespace
}  // namespace thalweg::data
