#include "data/formats/table_chunk.h"

#include <algorithm>

#include <fmt/format.h>

namespace thalweg::data {

TableChunk::TableChunk(std::string name, const std::vector<StreamInfo>& streams, size_t rows,
                       bool ragged)
    : name_(std::move(name)), ragged_(ragged) {
  for (const StreamInfo& stream : streams) {
    Values& column = columns_.emplace_back();
    column.sparse = stream.sparse;
    if (stream.sparse || ragged) {
      column.row_starts.reserve(rows + 1);
      column.row_starts.push_back(0);
    }
    if (!stream.sparse) {
      column.row_bytes = static_cast<size_t>(element_count(stream.shape)) * item_size(stream.dtype);
      if (!ragged) column.dense.resize(rows * column.row_bytes);
    }
  }
}

void TableChunk::push_samples(size_t stream, Bytes samples, size_t count) {
  std::vector<std::byte>& dense = columns_[stream].dense;
  dense.insert(dense.end(), samples.begin(), samples.end());
  row_samples_ = std::max(row_samples_, static_cast<int64_t>(count));
}

void TableChunk::end_row(RowEnd end) {
  if (end.begins_sequence) {
    lengths_.push_back(0);
    first_rows_.push_back(rows_);
    lines_.push_back(end.line);
  }
  for (Values& column : columns_) {
    if (!column.sparse) {
      if (ragged_)
        column.row_starts.push_back(static_cast<int64_t>(column.dense.size() / column.row_bytes));
      continue;
    }
    if (end.is_bad) {
      column.values.resize(static_cast<size_t>(column.row_starts.back()));
      column.indices.resize(column.values.size());
    }
    column.row_starts.push_back(static_cast<int64_t>(column.values.size()));
  }
  int64_t& length = lengths_.back();
  if (end.is_bad) length = kDropped;
  if (length != kDropped) length += ragged_ ? row_samples_ : 1;
  row_samples_ = 0;
  ++rows_;
}

size_t TableChunk::bytes() const {
  size_t bytes = (lengths_.capacity() + first_rows_.capacity() + lines_.capacity()) * 8;
  for (const Values& column : columns_) {
    bytes += column.dense.capacity() + column.values.capacity() * sizeof(float) +
             column.indices.capacity() * sizeof(int32_t) + column.row_starts.capacity() * 8;
  }
  return bytes;
}

StreamValues TableChunk::read(int64_t sequence, size_t stream, const SequenceDraw&) const {
  const Values& column = columns_[stream];
  const auto row = static_cast<size_t>(first_rows_[static_cast<size_t>(sequence)]);
  StreamValues values;
  values.samples = length(sequence);
  if (column.sparse) {
    values.values = column.values.data();
    values.columns = column.indices.data();
    values.row_starts = column.row_starts.data() + row;
  } else if (ragged_) {
    const int64_t first = column.row_starts[row];
    values.samples = column.row_starts[row + 1] - first;
    values.values = column.dense.data() + static_cast<size_t>(first) * column.row_bytes;
  } else {
    values.values = column.dense.data() + row * column.row_bytes;
  }
  return values;
}

std::string TableChunk::where(int64_t sequence) const {
  return fmt::format("{}:{}", name_, lines_[static_cast<size_t>(sequence)]);
}

}  // namespace thalweg::data
