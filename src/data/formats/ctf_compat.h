#pragma once

#include <string>
#include <string_view>

#include "data/formats/ctf_parser.h"

namespace thalweg::data {

/// Where a text is from.
struct CtfOrigin {
  std::string_view name;  // of the file
  uint64_t offset = 0;    // of its first byte
  uint64_t line = 0;      // of its first row, from 0
};

/// Parses like parse_ctf, but as CNTK's own reader does (CNTK 2.4; facts of its behaviour, not its
/// code): what it accepts, how it computes numbers, which samples it drops, its warnings with the
/// byte offsets of the file at which it prints them. Differs where its reader is at fault: a dense
/// sample at the end of a file without LF is padded or refused as everywhere else.
///
/// Throws Error{io} where CNTK gives up whatever the budget of errors: a sequence without any
/// sample in a stream.
void parse_ctf_compat(const CtfRules& rules, CtfMode mode, std::string_view text,
                      const CtfOrigin& origin, SampleTable& table, CtfReport& report,
                      Column<uint32_t>& lines);

}  // namespace thalweg::data
