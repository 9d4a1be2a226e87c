// Damaged rows: each gives an error or samples that are what the streams say, in every mode of the
// parser. THALWEG_FUZZ_ROUNDS asks for more rounds than the suite has time for.

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/philox.h>

#include "base/temp_dir.h"
#include "data/formats/ctf_compat.h"
#include "data/formats/ctf_parser.h"
#include "data/formats/ctf_scanner.h"
#include "data/formats/decimal.h"

namespace thalweg::data {
namespace {

const char* const kSeeds[] = {
    "0 |F 1 2.5 -3 |L 0:1 3:2\n0 |F 4 5 6 |L 1:1\n1 |F 7 8e-1 .9 |L 2:1 |# note\n",
    "|F 1 2 3 |L 0:1\r\n|F 123456789 0.12345678 -0.000001 |L 9:1\r\n\n|L 1:1 |F 1e300 1e-5 5.\n",
    "12|F 255 0 0|L 0:0\n|F 1 1 1\n|# |F 1 1 1\n13\t|L 99999999:1 |F 9 9 9 |G x y",
    "|F 0.123456 0.654321 0.111111 0.222222 0.333333 |L 1:0.5 2:0.25 3:0.125 4:1 5:1 6:1 7:1\n",
};
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

std::string mutated(Philox& random) {
  std::string text = kSeeds[random.bounded(std::size(kSeeds))];
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
  Philox random(1);
  int64_t errors = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    const std::string text = mutated(random);
    errors += parse(rules_for(random.bounded(32)), text);
    if (testing::Test::HasFatalFailure()) FAIL() << text;
  }
  EXPECT_GT(errors, rounds / 4);
  EXPECT_LT(errors, rounds);
}

}  // namespace
}  // namespace thalweg::data
