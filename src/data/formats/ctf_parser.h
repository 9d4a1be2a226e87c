#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/formats/ctf_rules.h"
#include "data/formats/sample_table.h"

namespace thalweg::data {

/// What parsers of CTF say: how much, and the first of it.
struct CtfReport {
  size_t kept = 20;  // of the problems
  int64_t errors = 0;
  int64_t warnings = 0;
  std::vector<CtfProblem> problems;  // the first, in order

  void add(uint64_t offset, std::string text) {
    if (problems.size() < kept) problems.push_back({offset, std::move(text)});
  }
};

/// How much of a chunk is parsed. `wanted`: which of its sequences, empty: all. Those not wanted
/// are passed over, or, with `checks_all`, parsed all the same, to know whether they are bad. If
/// `known` is not empty it says where the sequences are, and only the wanted ones' text is there.
struct CtfSelection {
  const std::vector<bool>& wanted;
  bool checks_all = false;
  std::span<const CtfSequence> known = {};
};

/// Parses the rows of whole sequences into `table`, whose streams are those of `rules`, by the
/// strict grammar. The text is padded with kDecimalPadding bytes of '\n'. `lines` gets the line of
/// each sequence's first row, from 0 in this text.
void parse_ctf(const CtfRules& rules, CtfMode mode, std::string_view text,
               const CtfSelection& selection, SampleTable& table, CtfReport& report,
               Column<uint32_t>& lines);

}  // namespace thalweg::data
