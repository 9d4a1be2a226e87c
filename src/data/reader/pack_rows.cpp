// Copies of values into rows of tensors.

#include <algorithm>
#include <cstring>

#include <thalweg/base/threads.h>

#include "base/fail.h"
#include "data/reader/packer.h"
#include "data/rows.h"

namespace thalweg::data {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kPrefetchBytes = 1024;  // see array_source.cpp
constexpr int64_t kPiecesAhead = 2;
constexpr int64_t kTileBytes = 128 * 1024;
constexpr double kNsPerByte = 0.1;

void prefetch(const std::byte* from, size_t bytes) {
  for (size_t i = 0; i < std::min(bytes, kPrefetchBytes); i += kLine) __builtin_prefetch(from + i);
}

}  // namespace

Tensor pack_dense(DType dtype, const Shape& sample, const std::vector<Piece>& pieces,
                  int64_t rows) {
  Tensor result = Tensor::empty(batch_shape(static_cast<size_t>(rows), sample), {.dtype = dtype});
  const size_t row_bytes = static_cast<size_t>(element_count(sample)) * item_size(dtype);
  std::byte* to = result.impl()->as<std::byte>();
  int64_t filled = 0;
  for (const Piece& piece : pieces) filled += piece.count;
  if (row_bytes == 0) return result;
  if (filled < rows) std::memset(to, 0, static_cast<size_t>(rows) * row_bytes);
  const auto source = [&](const Piece& piece) {
    return static_cast<const std::byte*>(piece.values->values) +
           static_cast<size_t>(piece.first) * row_bytes;
  };
  const auto n = static_cast<int64_t>(pieces.size());
  const int64_t mean = n == 0 ? 1 : filled * static_cast<int64_t>(row_bytes) / n + 1;
  const int64_t grain = std::max<int64_t>(1, kTileBytes / mean);
  parallel_ranges(n, grain, static_cast<double>(mean) * kNsPerByte,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const Piece& piece = pieces[static_cast<size_t>(i)];
                      if (i + kPiecesAhead < end) {
                        const Piece& next = pieces[static_cast<size_t>(i + kPiecesAhead)];
                        prefetch(source(next), static_cast<size_t>(next.count) * row_bytes);
                      }
                      if (piece.count > 0)
                        std::memcpy(to + static_cast<size_t>(piece.row) * row_bytes, source(piece),
                                    static_cast<size_t>(piece.count) * row_bytes);
                    }
                  });
  return result;
}

CsrTensor pack_sparse(const StreamInfo& stream, const std::vector<Piece>& pieces, int64_t rows) {
  CsrTensor result;
  result.row_starts = Tensor::zeros({rows + 1}, {.dtype = DType::i64});
  int64_t* starts = result.row_starts.mutable_data<int64_t>();
  for (const Piece& piece : pieces) {
    const int64_t* from = piece.values->row_starts + piece.first;
    for (int64_t i = 0; i < piece.count; ++i) starts[piece.row + i + 1] = from[i + 1] - from[i];
  }
  for (int64_t i = 0; i < rows; ++i) starts[i + 1] += starts[i];
  const int64_t stored = starts[rows];
  result.values = Tensor::empty({stored}, {.dtype = stream.dtype});
  result.columns = Tensor::empty({stored}, {.dtype = DType::i32});
  const size_t item = item_size(stream.dtype);
  std::byte* values = result.values.impl()->as<std::byte>();
  int32_t* columns = result.columns.mutable_data<int32_t>();
  for (const Piece& piece : pieces) {
    const int64_t* from = piece.values->row_starts + piece.first;
    const auto first = static_cast<size_t>(from[0]);
    const auto count = static_cast<size_t>(from[piece.count]) - first;
    if (piece.count == 0 || count == 0) continue;
    const auto at = static_cast<size_t>(starts[piece.row]);
    std::memcpy(values + at * item,
                static_cast<const std::byte*>(piece.values->values) + first * item, count * item);
    std::memcpy(columns + at, piece.values->columns + first, count * sizeof(int32_t));
  }
  for (int64_t i = 0; i < stored; ++i) {
    if (columns[i] >= 0 && columns[i] < stream.shape[0]) continue;
    fail_invalid("reader: stream '{}' has a value in column {}; its columns are 0 to {}",
                 stream.name, columns[i], stream.shape[0] - 1);
  }
  result.shape = {rows, stream.shape[0]};
  return result;
}

namespace {

std::vector<SampleKey> keys_per_row(const StreamLayout& layout) {
  std::vector<SampleKey> keys;
  for (size_t i = 0; i < layout.pieces.size(); ++i)
    keys.insert(keys.end(), static_cast<size_t>(layout.pieces[i].count), layout.keys[i]);
  return keys;
}

Shape without_rows(const Tensor& rows) {
  Shape shape = rows.shape();
  shape.erase(0);
  return shape;
}

}  // namespace

Shape sample_shape(const StreamInfo& stream, const std::vector<Piece>& pieces) {
  if (std::ranges::find(stream.shape, -1) == stream.shape.end()) return stream.shape;
  if (pieces.empty()) {
    Shape shape = stream.shape;
    for (int64_t& d : shape) d = std::max<int64_t>(d, 0);
    return shape;
  }
  const Shape& first = pieces[0].values->shape;
  for (const Piece& piece : pieces) {
    if (piece.values->shape == first) continue;
    fail_invalid("reader: samples of stream '{}' differ in shape; {} and {}; crop or scale them",
                 stream.name, to_string(first), to_string(piece.values->shape));
  }
  return first;
}

Tensor pack_transformed(const StreamInfo& stream, const StreamSteps& steps,
                        const StreamLayout& layout) {
  const bool is_fixed = std::ranges::find(stream.shape, -1) == stream.shape.end();
  // Parts that a step can work on together: all rows, or those of a piece.
  std::vector<Tensor> parts;
  if (is_fixed || layout.pieces.empty()) {
    std::vector<Piece> dense = layout.pieces;
    int64_t rows = 0;
    for (Piece& piece : dense) {
      piece.row = rows;
      rows += piece.count;
    }
    parts.push_back(steps.apply(pack_dense(stream.dtype, sample_shape(stream, dense), dense, rows),
                                keys_per_row(layout)));
  } else {
    for (size_t i = 0; i < layout.pieces.size(); ++i) {
      Piece piece = layout.pieces[i];
      piece.row = 0;
      parts.push_back(
          steps.apply(pack_dense(stream.dtype, piece.values->shape, {piece}, piece.count),
                      std::vector<SampleKey>(static_cast<size_t>(piece.count), layout.keys[i])));
    }
  }
  const int64_t rows = element_count(layout.grid);
  if (parts.size() == 1 && parts[0].shape()[0] == rows) return parts[0];

  StreamInfo out{stream.name, parts[0].dtype(), Shape{-1}};
  std::vector<StreamValues> values;
  for (const Tensor& part : parts)
    values.push_back(
        {.samples = part.shape()[0], .values = part.impl()->data, .shape = without_rows(part)});
  std::vector<Piece> pieces = layout.pieces;
  int64_t first = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].values = parts.size() == 1 ? &values[0] : &values[i];
    pieces[i].first = parts.size() == 1 ? first : 0;
    first += pieces[i].count;
  }
  return pack_dense(out.dtype, sample_shape(out, pieces), pieces, rows);
}

}  // namespace thalweg::data
