#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "data/formats/ctf_index.h"
#include "data/formats/ctf_parser.h"
#include "data/formats/ctf_rules.h"

namespace thalweg::data {

/// How a file is cut into chunks.
struct CtfLimits {
  size_t chunk_bytes = 0;        // of text
  size_t chunk_cost = SIZE_MAX;  // of memory, while it is loaded and loading
};

/// A chunk, and what it takes to parse it.
struct CtfPlace {
  CtfRange range;
  CtfMode mode = CtfMode::unknown;
  bool has_line = true;
  std::vector<CtfRange> sequences = {};  // one by one, if it can be read in parts
};

/// One file of a CTF corpus. The functions that look for chunks are called by one thread at a time.
class CtfFile {
 public:
  CtfFile(const std::string& path, const CtfRules& rules, const CtfOptions& options);

  const std::string& path() const { return path_; }

  /// Before the functions below.
  void set_limits(const CtfLimits& limits) { limits_ = limits; }

  bool has_chunk(size_t chunk);
  size_t chunks();
  CtfPlace chunk(size_t chunk) const {
    return {chunks_[chunk], index_->mode(), index_->data().has_lines};
  }
  /// True once all is indexed, if sequences can be read one by one.
  bool loads_parts() const {
    return options_.single_sequences && packed_ == nullptr && index_ != nullptr &&
           index_->is_complete() && index_->data().has_lines;
  }
  /// The sequences of a chunk one by one; empty if it is read as a whole.
  std::vector<CtfRange> sequences_of(const CtfRange& chunk) const;
  /// Once there is a chunk.
  CtfMode mode() const { return index_->mode(); }

  /// The ids of a chunk's sequences. Any thread may call this.
  std::vector<uint64_t> keys(const CtfPlace& place) const;

  /// Any thread may call this. What is wrong goes to `problems`; an
  /// Error if there is more than max_errors allow.
  std::shared_ptr<const Chunk> load(const CtfPlace& place, const std::vector<bool>& wanted,
                                    ReadProblems& problems, std::mutex& problems_mutex);

 private:
  struct Rows {
    const CtfPlace& place;
    std::string_view text;
    uint64_t line;  // of the first, from 0
  };
  void parse(const Rows& rows, const std::vector<bool>& wanted, SampleTable& table,
             Column<uint32_t>& lines, CtfReport& report);
  void judge(const Rows& rows, const CtfReport& report, ReadProblems& problems);
  std::string told(const Rows& rows, const CtfProblem& problem) const;
  static void read_parts(const ByteSource& from, const CtfPlace& place,
                         const std::vector<bool>& wanted, char* text);
  void add_blocks();
  std::shared_ptr<const ByteSource> source() const;
  void check_count(const CtfPlace& place, uint64_t found) const;

  const CtfRules& rules_;
  const CtfOptions& options_;
  CtfLimits limits_;
  std::string path_;
  FileStamp stamp_;
  std::shared_ptr<const ByteSource> packed_;  // a plain file is opened when it is read
  std::unique_ptr<CtfIndex> index_;
  std::vector<CtfRange> chunks_;
  size_t blocks_ = 0;  // of the index that are in chunks_ or in open_
  CtfRange open_;
  int64_t errors_ = 0;
  std::set<uint64_t> judged_;  // offsets of chunks whose problems were counted
};

}  // namespace thalweg::data
