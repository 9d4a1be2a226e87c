#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/formats/cbf_header.h"
#include "data/formats/column.h"

namespace thalweg::data {

/// Chunks of a CBF file that follow each other, values left where they were read to.
class CbfChunk final : public Chunk {
 public:
  /// `streams`: which of the file's are asked for, in order. `first`: number of the first sequence
  /// in the file.
  CbfChunk(const ByteSource& source, const CbfHeader& header,
           std::span<const CbfChunkHeader> chunks, const std::vector<size_t>& streams,
           int64_t first);

  size_t bytes() const override;
  int64_t length(int64_t sequence) const override {
    return lengths_[static_cast<size_t>(sequence)];
  }
  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw& draw) const override;
  std::string where(int64_t sequence) const override;

 private:
  // Where one stream's sequences are.
  struct Parts {
    bool sparse = false;
    Column<const std::byte*> values;  // null: in f64
    Column<uint32_t> samples;
    Column<const int32_t*> columns;   // sparse
    Column<int64_t> first_row_start;  // sparse: place in row_starts
    Column<int64_t> row_starts;       // sparse: samples + 1 for each sequence, from 0
    Column<double> f64;               // copies of f64, which lie at odd places in the file
    Column<int64_t> f64_starts;       // of each sequence
  };
  class Walk;

  std::string name_;
  int64_t first_;
  size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
  Column<int32_t> lengths_;
  std::vector<Parts> parts_;
};

}  // namespace thalweg::data
