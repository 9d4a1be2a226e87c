#pragma once

// What text formats with one sample per row have in common: finding rows, cutting them into chunks,
// dropping bad ones. A RowFormat knows what a row means.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/data/deserializer.h>

#include "data/formats/byte_source.h"
#include "data/formats/problem_log.h"
#include "data/formats/table_chunk.h"

namespace thalweg::data {

/// One row, without its LF or CR LF.
struct Row {
  std::string_view text;
  int64_t line;     // its first, from 1
  uint64_t offset;  // in the file
};

class RowFormat {
 public:
  virtual ~RowFormat() = default;

  /// What errors begin with.
  virtual const char* operation() const = 0;
  /// What a user may try if there are no rows, with "; " before it.
  virtual const char* no_rows() const { return ""; }
  virtual const std::vector<StreamInfo>& streams() const = 0;

  /// The place after the line end of the row that begins at `at`; npos if `text` ends before it.
  virtual size_t row_end(std::string_view text, size_t at) const;
  /// False for blank rows and comments.
  virtual bool is_sample(std::string_view row) const = 0;

  /// Rows end with LF or CR LF, which are not part of them; else rows are numbered as if lines.
  virtual bool has_lines() const { return true; }
  /// Rows have any number of samples, which parse() pushes; else one.
  virtual bool is_ragged() const { return false; }

  virtual KeyKind key_kind() const { return KeyKind::position; }
  /// Asked unless key_kind() is position. Rows of one key that follow each other are a sequence.
  virtual SequenceKey key(const Row& row, const std::string& name) const;

  /// Memory that rows of so many bytes of text take as values, at most.
  virtual size_t loaded_bytes(size_t rows, size_t text_bytes) const = 0;

  /// Puts a row's values into the table's next row. Throws Error{io} for a bad one.
  virtual void parse(const Row& row, const std::string& name, TableChunk& table) const = 0;
};

class RowCorpus final : public Deserializer {
 public:
  struct Start {
    uint64_t offset = 0;  // of the first row
    int64_t line = 1;
  };

  RowCorpus(std::unique_ptr<ByteSource> source, std::unique_ptr<RowFormat> format, Start start,
            int64_t max_errors);

  std::string name() const override { return source_->name(); }
  const std::vector<StreamInfo>& streams() const override { return format_->streams(); }
  void limit_chunks(size_t bytes) override;
  bool has_chunk(int64_t chunk) const override;
  int64_t chunks() const override;
  ChunkInfo chunk(int64_t chunk) const override;
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override;
  KeyKind key_kind() const override { return format_->key_kind(); }
  SequenceKey key(int64_t chunk, int64_t sequence) const override;
  ReadProblems problems() const override { return log_.problems(); }

 private:
  struct Place {
    uint64_t offset = 0;
    size_t bytes = 0;
    int64_t line = 0;
    int64_t end_line = 0;
    size_t rows = 0;
    int64_t sequences = 0;
    std::vector<SequenceKey> keys;
  };

  bool scan_to(int64_t chunk) const;
  bool scan_chunk() const;
  bool peek_row(Row& row) const;
  void take_row() const;
  void go_to(uint64_t offset, int64_t line) const;
  bool read_more() const;
  Place place_of(int64_t chunk) const;
  std::string_view content(std::string_view row) const;
  int64_t lines(std::string_view row) const;
  size_t cost(const Place& place, size_t more_bytes) const;

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<RowFormat> format_;
  Start start_;
  size_t limit_;
  mutable ProblemLog log_;

  // The scan over the file, as far as it has come.
  mutable std::mutex mutex_;
  mutable std::vector<Place> places_;
  mutable std::string window_;
  mutable uint64_t window_offset_;
  mutable size_t at_ = 0;    // in window_: the next row
  mutable size_t next_ = 0;  // in window_: after the row that was looked at last
  mutable int64_t line_;
  mutable bool is_last_window_ = false;
  mutable bool is_complete_ = false;
};

}  // namespace thalweg::data
