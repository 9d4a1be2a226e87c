#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/formats/byte_source.h"
#include "data/formats/ctf_rules.h"
#include "data/formats/ctf_scanner.h"
#include "data/formats/paths.h"

namespace thalweg::data {

/// Some sequences that follow each other in a file.
struct CtfRange {
  uint64_t offset = 0;
  uint64_t size = 0;      // from the first row to the end of the last
  uint64_t line = 0;      // of the first row, from 0
  uint64_t sequence = 0;  // number of the first in the file
  uint32_t sequences = 0;
  uint32_t rows = 0;  // that have samples

  void append(const CtfRange& next);
};

/// What is known of a file's sequences, as it is kept on disk.
struct CtfIndexData {
  CtfMode mode = CtfMode::unknown;
  bool has_lines = true;         // CNTK's indexes do not know them
  std::vector<CtfRange> blocks;  // in order
};

/// What an index depends on besides the file.
struct CtfIndexOptions {
  size_t block_bytes = 64 << 10;    // of text in a block, at most, if it has more than one sequence
  size_t block_cost = SIZE_MAX;     // of ctf_cost
  bool keep = false;                // on disk
  std::string folder = {};          // where; empty: beside the file
  uint64_t text_size = UINT64_MAX;  // that the file's text has at most
};

/// Memory that samples take once parsed; rather too much than too little.
size_t ctf_cost(const CtfRules& rules, const CtfRange& range);

/// Finds out where a file's sequences are, no further than asked. Used by one thread at a time.
class CtfIndex {
 public:
  CtfIndex(std::shared_ptr<const ByteSource> source, const CtfRules& rules, const FileStamp& stamp,
           const CtfIndexOptions& options);

  /// Looks at more of the file; false if all of it was looked at, after which data() is complete.
  bool extend();
  bool is_complete() const { return is_complete_; }
  CtfMode mode() const { return is_complete_ ? data_.mode : scanner_.mode(); }
  const CtfIndexData& data() const { return data_; }

 private:
  static constexpr uint64_t kNotBegun = UINT64_MAX;

  void add(const CtfSequence& sequence);
  void end_block();
  void finish();

  const std::string path_;
  const CtfRules& rules_;
  const FileStamp stamp_;
  const CtfIndexOptions options_;
  CtfIndexData data_;
  bool is_complete_ = false;
  CtfRange block_;
  uint64_t sequences_ = 0;

  std::shared_ptr<const ByteSource> source_;  // while reading
  CtfScanner scanner_;
  std::string text_;                  // read and not yet scanned
  uint64_t text_offset_ = kNotBegun;  // of its first byte in the file
};

}  // namespace thalweg::data
