#include "data/formats/table_chunk.h"

#include <fmt/format.h>

namespace thalweg::data {

TableChunk::TableChunk(std::string name, const std::vector<StreamInfo>& streams, size_t rows)
    : name_(std::move(name)) {
  for (const StreamInfo& stream : streams) {
    Values& column = columns_.emplace_back();
    column.sparse = stream.sparse;
    if (stream.sparse) {
      column.row_starts.reserve(rows + 1);
      column.row_starts.push_back(0);
    } else {
      column.row_bytes = static_cast<size_t>(element_count(stream.shape)) * item_size(stream.dtype);
      column.dense.resize(rows * column.row_bytes);
    }
  }
}

void TableChunk::end_row(RowEnd end) {
  if (end.begins_sequence) {
    lengths_.push_back(0);
    first_rows_.push_back(rows_);
    lines_.push_back(end.line);
  }
  for (Values& column : columns_) {
    if (!column.sparse) continue;
    if (end.is_bad) {
      column.values.resize(static_cast<size_t>(column.row_starts.back()));
      column.indices.resize(column.values.size());
    }
    column.row_starts.push_back(static_cast<int64_t>(column.values.size()));
  }
  int64_t& length = lengths_.back();
  if (end.is_bad) length = kDropped;
  if (length != kDropped) ++length;
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
  } else {
    values.values = column.dense.data() + row * column.row_bytes;
  }
  return values;
}

std::string TableChunk::where(int64_t sequence) const {
  return fmt::format("{}:{}", name_, lines_[static_cast<size_t>(sequence)]);
}

}  // namespace thalweg::data
