#pragma once

#include <cstdint>
#include <vector>

#include <thalweg/data/deserializer.h>

#include "data/formats/column.h"

namespace thalweg::data {

/// All samples that a chunk has in one stream, sequence after sequence, in f32 or f64.
class StreamColumns {
 public:
  StreamColumns(int64_t dim, bool sparse, DType dtype);

  int64_t dim() const { return dim_; }
  bool is_sparse() const { return sparse_; }
  DType dtype() const { return dtype_; }

  template <typename T>
  Column<T>& values() {
    if constexpr (sizeof(T) == 4) return f32_;
    if constexpr (sizeof(T) == 8) return f64_;
  }
  Column<int32_t>& columns() { return columns_; }

  /// Samples so far.
  size_t samples() const { return samples_; }
  /// Of the sequence that is not closed yet.
  size_t open_samples() const { return samples_ - starts_.back(); }
  /// Sparse: values since the last sequence.
  size_t open_stored() const { return stored() - static_cast<size_t>(row_starts_[starts_.back()]); }

  /// The values since the last sample are one.
  void end_sample();
  /// The samples since the last sequence are one.
  void end_sequence() { starts_.push_back(static_cast<uint32_t>(samples_)); }
  /// Takes back what came after the last sample, or the last sequence.
  void drop_sample();
  void drop_sequence();

  size_t bytes() const;
  void shrink();
  StreamValues read(size_t sequence) const;

  /// Stored values.
  size_t stored() const { return dtype_ == DType::f32 ? f32_.size() : f64_.size(); }

 private:
  void truncate(size_t stored);

  int64_t dim_;
  bool sparse_;
  DType dtype_;
  size_t samples_ = 0;
  Column<float> f32_;  // one of the two holds the values
  Column<double> f64_;
  Column<int32_t> columns_;     // sparse: of each value
  Column<int64_t> row_starts_;  // sparse: first value of each sample, and the end
  Column<uint32_t> starts_;     // first sample of each sequence, and the end
};

/// All samples of a chunk, as numbers.
class SampleTable {
 public:
  std::vector<StreamColumns>& streams() { return streams_; }
  int64_t sequences() const { return static_cast<int64_t>(lengths_.size()); }

  /// Closes the sequence in all streams.
  void end_sequence(int64_t length);
  /// Closes it without what it has; `length` may be Chunk::kDropped, or that of one not wanted.
  void drop_sequence(int64_t length);
  void shrink();

  size_t bytes() const;
  int64_t length(int64_t sequence) const { return lengths_[static_cast<size_t>(sequence)]; }
  StreamValues read(int64_t sequence, size_t stream) const {
    return streams_[stream].read(static_cast<size_t>(sequence));
  }

 private:
  std::vector<StreamColumns> streams_;
  Column<int32_t> lengths_;
};

}  // namespace thalweg::data
