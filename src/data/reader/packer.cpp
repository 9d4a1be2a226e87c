#include "data/reader/packer.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include <thalweg/base/clock.h>

#include "base/fail.h"
#include "data/rows.h"

namespace thalweg::data {
namespace {

// Reads one sequence in all streams, at the end of their values; false if it is dropped. Errors
// tell where it is.
bool read_all(const PlanItem& item, const SequenceDraw& draw,
              std::vector<std::vector<StreamValues>>& values) {
  const Chunk& chunk = **item.drawn.chunk;
  const auto place = [&] {
    return fmt::format("sequence {} ({})", item.drawn.number, chunk.where(item.drawn.sequence));
  };
  try {
    for (size_t s = 0; s < values.size(); ++s) {
      values[s].push_back(chunk.read(item.drawn.sequence, s, draw));
      if (values[s].back().samples >= 0) continue;
      for (size_t i = 0; i <= s; ++i) values[i].pop_back();
      return false;
    }
    return true;
  } catch (Error& error) {
    error.set_place(place());
    throw;
  } catch (const std::exception& other) {
    Error error(ErrorKind::invalid, fmt::format("reader: {}", other.what()));
    error.set_place(place());
    std::throw_with_nested(std::move(error));
  }
}

// The mask of StreamBatch.
Tensor mask_of(const StreamLayout& layout) {
  Tensor mask = Tensor::zeros(layout.grid, {.dtype = DType::u8});
  auto* to = mask.mutable_data<uint8_t>();
  for (const Piece& piece : layout.pieces) {
    std::fill_n(to + piece.row, piece.count, uint8_t{1});
    if (piece.first == 0 && piece.count > 0) to[piece.row] = 2;
  }
  return mask;
}

// `rows` with the grid's axes in place of the first.
Tensor on_grid(const Tensor& rows, const Shape& grid) {
  if (grid.size() == 1) return rows;
  Shape shape = rows.shape();
  shape[0] = grid[1];
  shape.insert(0, grid[0]);
  return with_shape(rows, shape);
}

}  // namespace

Packer::Packer(const std::vector<StreamInfo>& streams, const MinibatchSourceOptions& options,
               uint64_t seed, const AbsorbedSteps& absorbed)
    : inputs_(streams),
      packing_(options.packing),
      truncation_(options.truncation),
      seed_(derive_seed(seed, 1)) {
  check_transforms(streams, options.transforms);
  auto outputs = std::make_shared<std::vector<StreamInfo>>();
  for (const StreamInfo& stream : streams) {
    steps_.emplace_back(stream, options.transforms, seed_);
    if (const auto taken = absorbed.find(stream.name); taken != absorbed.end())
      steps_.back().skip(taken->second);
    outputs->push_back(steps_.back().output(stream));
  }
  outputs_ = std::move(outputs);
}

Minibatch Packer::make(const Plan& plan, SourceCounters& counters) const {
  const size_t streams = inputs_.size();
  std::vector<const PlanItem*> items;
  items.reserve(plan.items.size());
  std::vector<std::vector<StreamValues>> values(streams);
  for (std::vector<StreamValues>& column : values) column.reserve(plan.items.size());
  for (const PlanItem& item : plan.items) {
    if (read_all(item, {item.drawn.key, item.drawn.sweep, seed_}, values)) items.push_back(&item);
  }
  std::vector<StreamBatch> batches;
  for (size_t s = 0; s < streams; ++s)
    batches.push_back(pack_stream(plan, items, values[s], s, counters));
  Minibatch result(outputs_, std::move(batches));
  result.sequences.reserve(items.size());
  for (const PlanItem* item : items) {
    result.num_samples += item->samples;
    result.sequences.push_back(
        {item->drawn.number, item->drawn.sweep, item->first_sample, item->samples});
  }
  result.num_sequences = static_cast<int64_t>(items.size());
  result.all_samples = plan.all_samples;
  result.all_sequences = plan.all_sequences;
  result.repeated = plan.repeated;
  result.sweep = plan.sweep;
  result.end_of_sweep = plan.end_of_sweep;
  return result;
}

StreamBatch Packer::pack_stream(const Plan& plan, const std::vector<const PlanItem*>& items,
                                const std::vector<StreamValues>& values, size_t stream,
                                SourceCounters& counters) const {
  const StreamInfo& info = inputs_[stream];
  const StreamLayout layout = lay_out(info, plan, items, values, packing_, truncation_);
  const int64_t rows = element_count(layout.grid);
  StreamBatch batch;
  batch.lengths = Tensor::of(layout.lengths);
  if (packing_ != Packing::samples) batch.mask = mask_of(layout);
  if (info.sparse) {
    batch.csr = pack_sparse(info, layout.pieces, rows);
    batch.csr.shape = layout.grid;
    batch.csr.shape.push_back(info.shape[0]);
  } else if (steps_[stream].empty()) {
    const Shape sample = sample_shape(info, layout.pieces);
    batch.dense = on_grid(pack_dense(info.dtype, sample, layout.pieces, rows), layout.grid);
  } else {
    const Stopwatch watch;
    batch.dense = on_grid(pack_transformed(info, steps_[stream], layout), layout.grid);
    counters.transform_ns += static_cast<int64_t>(watch.seconds() * 1e9);
  }
  return batch;
}

StreamLayout lay_out(const StreamInfo& stream, const Plan& plan,
                     const std::vector<const PlanItem*>& items,
                     const std::vector<StreamValues>& values, Packing packing, int64_t truncation) {
  StreamLayout layout;
  int64_t rows = 0;
  int64_t longest = 0;
  layout.pieces.reserve(items.size());
  layout.keys.reserve(items.size());
  layout.lengths.reserve(items.size());
  if (packing == Packing::truncated) layout.lengths.resize(static_cast<size_t>(plan.slots));
  for (size_t i = 0; i < items.size(); ++i) {
    const PlanItem& item = *items[i];
    Piece piece{&values[i], 0, values[i].samples, rows};
    if (packing == Packing::truncated) {
      if (values[i].samples != item.drawn.length) {
        fail_invalid(
            "reader: truncated sequences have as many samples in each stream; sequence {} ({}) has "
            "{}, but {} in stream '{}'",
            item.drawn.number, (*item.drawn.chunk)->where(item.drawn.sequence), item.drawn.length,
            values[i].samples, stream.name);
      }
      piece = {&values[i], item.first_sample, item.samples, item.slot * truncation + item.at};
      layout.lengths[static_cast<size_t>(item.slot)] = item.at + item.samples;
    } else {
      layout.lengths.push_back(piece.count);
    }
    rows += piece.count;
    longest = std::max(longest, piece.count);
    layout.pieces.push_back(piece);
    layout.keys.push_back({item.drawn.key, item.drawn.sweep});
  }
  layout.grid = {rows};
  if (packing == Packing::truncated) layout.grid = {plan.slots, truncation};
  if (packing == Packing::padded) {
    layout.grid = {static_cast<int64_t>(items.size()), longest};
    for (size_t i = 0; i < items.size(); ++i)
      layout.pieces[i].row = static_cast<int64_t>(i) * longest;
  }
  return layout;
}

}  // namespace thalweg::data
