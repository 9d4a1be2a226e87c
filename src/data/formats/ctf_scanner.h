#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "data/formats/ctf_rules.h"

namespace thalweg::data {

/// Finds the sequences among rows without reading the samples. Of a sequence's rows those count
/// that have a sample at all; in compat mode, as in CNTK's index, all rows or, if a stream counts
/// samples, those where its field's name is found. Sequences without such a row are then left out.
class CtfScanner {
 public:
  explicit CtfScanner(const CtfRules& rules, CtfMode mode = CtfMode::unknown, uint64_t line = 0);

  CtfMode mode() const { return mode_; }

  /// Goes through the rows in `text`, which begins at byte `offset` of the file, and calls
  /// found(sequence) for each sequence that is known to be complete. Returns the bytes used: a row
  /// without an LF waits for more text unless `is_last`.
  template <typename Found>
  size_t scan(std::string_view text, uint64_t offset, bool is_last, Found&& found) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
      const auto* line_end = static_cast<const char*>(std::memchr(at, '\n', end - at));
      if (line_end == nullptr && !is_last) break;
      if (line_end == nullptr) line_end = end;
      const char* const next = line_end + (line_end < end);
      const uint64_t row = offset + static_cast<uint64_t>(at - text.data());
      if (add_row({at, static_cast<size_t>(line_end - at)}, row, next - at)) found(done_);
      at = next;
    }
    if (is_last && end_sequence()) found(done_);
    return static_cast<size_t>(at - text.data());
  }

 private:
  // True if this ended a sequence, which is then in done_.
  bool add_row(std::string_view row, uint64_t offset, size_t size) {
    const uint64_t line = line_++;
    const bool counts = counts_row(row);
    if (mode_ == CtfMode::unknown && !choose_mode(row, offset, counts)) return false;
    if (mode_ == CtfMode::lines) {
      if (!counts) return false;
      done_ = {line, offset, size, line, 1};
      return true;
    }
    bool ended = false;
    if (!row.empty() && ctf::is_digit(row[0])) {
      const uint64_t id = parse_id(row, offset);
      if (!open_ || id != current_.key) {
        ended = end_sequence();
        open_ = true;
        current_ = {id, offset, 0, line, 0};
      }
    }
    current_.size += size;
    current_.rows += counts;
    return ended;
  }

  bool end_sequence() {
    const bool exists = open_ && (current_.rows > 0 || !rules_.compat);
    open_ = false;
    if (exists) done_ = current_;
    return exists;
  }

  bool counts_row(std::string_view row) const {
    if (rules_.compat) return mark_.empty() || has_mark(row);
    // What nearly all rows look like.
    if (row.size() > 1 && (ctf::is_digit(row[0]) || (row[0] == '|' && row[1] != '#'))) return true;
    return has_content(row);
  }

  bool choose_mode(std::string_view row, uint64_t offset, bool counts);
  bool has_mark(std::string_view row) const;
  static bool has_content(std::string_view row);
  static uint64_t parse_id(std::string_view row, uint64_t offset);

  const CtfRules& rules_;
  CtfMode mode_;
  std::string mark_;  // "|field" of the stream that counts, in compat mode
  CtfSequence current_;
  CtfSequence done_;
  bool open_ = false;
  uint64_t line_;
};

}  // namespace thalweg::data
