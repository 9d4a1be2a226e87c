#include "data/reader/sweep_order.h"

namespace thalweg::data {
namespace {

// As the data come: a window is a chunk.
class DataOrder final : public SweepOrder {
 public:
  DataOrder(CorpusIndex& index, const OrderOptions& options) : index_(index), options_(options) {}

  std::optional<int64_t> window_at(int64_t position) override {
    const std::optional<Place> place = index_.find(position);
    return place ? std::optional(place->chunk) : std::nullopt;
  }

  bool has_window(int64_t window) override { return index_.has_chunk(window); }

  Window window(int64_t window) override {
    const ChunkInfo info = index_.chunk(window);
    const int64_t begin = index_.first_sequence(window);
    Window result{begin, begin + info.sequences, {whole_chunk(index_, window)}};
    if (options_.world_size > 1) {
      auto& wanted = result.loads[0].wanted;
      wanted.resize(static_cast<size_t>(info.sequences));
      for (size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = (begin + static_cast<int64_t>(i)) % options_.world_size == options_.rank;
    }
    return result;
  }

  WindowPlace find(int64_t window, int64_t position) override {
    return {0, position - index_.first_sequence(window), position};
  }

 private:
  CorpusIndex& index_;
  OrderOptions options_;
};

}  // namespace

std::unique_ptr<SweepOrder> make_data_order(CorpusIndex& index, const OrderOptions& options) {
  return std::make_unique<DataOrder>(index, options);
}

ChunkLoad whole_chunk(CorpusIndex& index, int64_t chunk) {
  const ChunkInfo info = index.chunk(chunk);
  return {chunk, {}, info.bytes, info.load_bytes};
}

std::unique_ptr<SweepOrder> make_order(CorpusIndex& index, const OrderOptions& options,
                                       int64_t sweep) {
  if (options.cumulative) return make_corpus_order(index, options, sweep);
  if (!options.randomize) return make_data_order(index, options);
  switch (options.shuffle) {
    case Shuffle::window:
      return make_window_order(index, options, sweep);
    case Shuffle::corpus:
      return make_corpus_order(index, options, sweep);
    case Shuffle::cntk:
      break;
  }
  return make_cntk_order(index, options, sweep);
}

}  // namespace thalweg::data
