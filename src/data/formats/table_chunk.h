#pragma once

#include <memory>
#include <string>
#include <vector>

#include <thalweg/base/bytes.h>
#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// Rows of a text file in memory, one sample of each stream per row; a sequence is one row or
/// several that follow each other.
class TableChunk final : public Chunk {
 public:
  /// Dense streams get `rows` rows of zeros. `name` is the file's. `ragged`: rows have as many
  /// samples as are pushed, and every row is a sequence.
  TableChunk(std::string name, const std::vector<StreamInfo>& streams, size_t rows,
             bool ragged = false);

  // --- building, row after row ---
  /// The values of a dense stream in the row that is next.
  std::byte* dense_row(size_t stream) {
    return columns_[stream].dense.data() + next_row_offset(stream);
  }
  void push_sparse(size_t stream, int32_t column, float value) {
    columns_[stream].values.push_back(value);
    columns_[stream].indices.push_back(column);
  }
  /// Ragged: `count` samples of a dense stream.
  void push_samples(size_t stream, Bytes samples, size_t count);
  /// Ends the row that is next, which is that of a line. `begins_sequence` false: it goes on with
  /// the sequence of the row before. `is_bad`: it drops its sequence.
  struct RowEnd {
    int64_t line;
    bool begins_sequence = true;
    bool is_bad = false;
  };
  void end_row(RowEnd end);
  int64_t rows() const { return rows_; }

  size_t bytes() const override;
  int64_t length(int64_t sequence) const override {
    return lengths_[static_cast<size_t>(sequence)];
  }
  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw& draw) const override;
  std::string where(int64_t sequence) const override;

 private:
  struct Values {
    size_t row_bytes = 0;
    bool sparse = false;
    std::vector<std::byte> dense;
    std::vector<float> values;
    std::vector<int32_t> indices;
    std::vector<int64_t> row_starts;
  };

  size_t next_row_offset(size_t stream) const {
    return static_cast<size_t>(rows_) * columns_[stream].row_bytes;
  }

  std::string name_;
  std::vector<Values> columns_;
  std::vector<int64_t> lengths_;     // of sequences, kDropped for bad ones
  std::vector<int64_t> first_rows_;  // likewise
  std::vector<int64_t> lines_;
  int64_t rows_ = 0;
  bool ragged_ = false;
  int64_t row_samples_ = 0;  // ragged: pushed for the row that is next, in the longest stream
};

}  // namespace thalweg::data
