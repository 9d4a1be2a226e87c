#include "data/formats/ctf_scanner.h"

#include "base/fail.h"

namespace thalweg::data {
namespace {

bool is_control(char c) { return static_cast<signed char>(c) < 0x20; }  // CNTK's signed char

}  // namespace

CtfScanner::CtfScanner(const CtfRules& rules, CtfMode mode, uint64_t line)
    : rules_(rules), mode_(mode), line_(line) {
  if (rules.compat && rules.counting >= 0)
    mark_ = "|" + rules.streams[static_cast<size_t>(rules.counting)].field;
  if (rules.skip_sequence_ids) mode_ = CtfMode::lines;
}

// False if the row says nothing about it.
bool CtfScanner::choose_mode(std::string_view row, uint64_t offset, bool counts) {
  if (!rules_.compat && !counts) return false;
  const char first = row.empty() ? '\n' : row[0];
  if (ctf::is_digit(first)) {
    mode_ = CtfMode::ids;
  } else if (first == '|' || !rules_.compat) {
    mode_ = CtfMode::lines;
  } else {
    fail_io("Expected a sequence id at the offset {}, none was found.", offset);
  }
  return true;
}

bool CtfScanner::has_mark(std::string_view row) const {
  for (size_t at = row.find(mark_); at != row.npos; at = row.find(mark_, at + 1)) {
    const size_t after = at + mark_.size();
    if (after == row.size() || row[after] == ' ' || row[after] == '|' || is_control(row[after]))
      return true;
  }
  return false;
}

// Anything but blanks and remarks. A remark goes on to the next '|'.
bool CtfScanner::has_content(std::string_view row) {
  for (size_t at = 0;; ++at) {
    at = row.find_first_not_of(" \t\r", at);
    if (at == row.npos) return false;
    if (row.substr(at, 2) != "|#") return true;
    at = row.find('|', at + 1);
    if (at == row.npos) return false;
    --at;
  }
}

uint64_t CtfScanner::parse_id(std::string_view row, uint64_t offset) {
  uint64_t id = 0;
  for (size_t i = 0; i < row.size() && ctf::is_digit(row[i]); ++i) {
    if (__builtin_mul_overflow(id, uint64_t{10}, &id) ||
        __builtin_add_overflow(id, static_cast<uint64_t>(row[i] - '0'), &id)) {
      fail_io("a sequence id is too large; at byte {}: expected at most 2^64 - 1, found '{}'",
              offset, row.substr(0, 40));
    }
  }
  return id;
}

}  // namespace thalweg::data
