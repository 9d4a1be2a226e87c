#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/data/ctf.h>

namespace thalweg::data {

/// What the parsers of CTF need to know, names resolved.
struct CtfRules {
  std::vector<CtfStream> streams;  // each with its field
  bool compat = false;
  bool skip_sequence_ids = false;
  int counting = -1;  // the stream that counts samples; -1: all, the longest counts

  /// Of the stream with this field; -1 if there is none.
  int find(std::string_view field) const {
    for (size_t i = 0; i < streams.size(); ++i)
      if (streams[i].field == field) return static_cast<int>(i);
    return -1;
  }
};

/// Whether rows of a file name their sequence, or each is one of its own.
enum class CtfMode : uint8_t { unknown, lines, ids };

/// A sequence among the rows of a file.
struct CtfSequence {
  uint64_t key = 0;     // its id; in CtfMode::lines, the number of its line, from 0
  uint64_t offset = 0;  // of its first row
  uint64_t size = 0;    // of its rows
  uint64_t line = 0;    // of its first row, from 0
  uint32_t rows = 0;    // that count: see CtfScanner
};

/// What a parser has to say about a place.
struct CtfProblem {
  uint64_t offset = 0;  // in the chunk
  std::string text;
};

namespace ctf {
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
}  // namespace ctf

}  // namespace thalweg::data
