#include <algorithm>

#include <thalweg/base/permutation.h>

#include "base/fail.h"
#include "data/reader/sweep_order.h"

namespace thalweg::data {
namespace {

constexpr uint64_t kCorpusStream = 0xC0B905;
constexpr uint64_t kWeightStream = 0x3E1647;

// All sequences in the order of one permutation, or drawn by weight. Windows are the next sequences
// that memory holds, and load the parts of chunks in which those are.
class CorpusOrder final : public SweepOrder {
 public:
  CorpusOrder(CorpusIndex& index, const OrderOptions& options, int64_t sweep)
      : index_(index),
        options_(options),
        sweep_(sweep),
        sequences_(index.sequences()),
        window_size_(sequences_) {
    if (sequences_ == 0) return;
    permutation_.emplace(static_cast<uint64_t>(sequences_), derive(kCorpusStream));
    const size_t bytes = index.bytes();
    if (bytes <= options.window_bytes) return;
    if (!index.deserializer().loads_parts()) {
      fail_invalid(
          "reader: sequences of {} cannot be read one by one, as this order needs; the data take "
          "{} bytes and a window has {}; use Shuffle::window without weights, or more memory",
          index.deserializer().name(), bytes, options.window_bytes);
    }
    const double mean = static_cast<double>(bytes) / static_cast<double>(sequences_);
    window_size_ = std::max<int64_t>(
        1, static_cast<int64_t>(static_cast<double>(options.window_bytes) / mean));
  }

  std::optional<int64_t> window_at(int64_t position) override {
    return position < sequences_ ? std::optional(position / window_size_) : std::nullopt;
  }

  bool has_window(int64_t window) override {
    return sequences_ > 0 && window <= (sequences_ - 1) / window_size_;
  }

  Window window(int64_t window) override {
    const int64_t begin = window * window_size_;
    Window result{begin, std::min(sequences_, begin + window_size_), {}};
    if (window_size_ == sequences_) {
      for (int64_t chunk = 0; chunk < index_.chunks(); ++chunk)
        result.loads.push_back(whole_chunk(index_, chunk));
    } else {
      result.loads = parts_of(result);
    }
    return result;
  }

  WindowPlace find(int64_t window, int64_t position) override {
    const int64_t number = number_at(position);
    const Place place = *index_.find(number);
    if (window_size_ == sequences_)
      return {static_cast<size_t>(place.chunk), place.sequence, number};
    const std::vector<int64_t>& chunks = chunks_of(window);
    const auto found = std::lower_bound(chunks.begin(), chunks.end(), place.chunk);
    return {static_cast<size_t>(found - chunks.begin()), place.sequence, number};
  }

 private:
  uint64_t derive(uint64_t stream) const {
    return derive_seed(options_.seed, static_cast<uint64_t>(sweep_), stream);
  }

  int64_t number_at(int64_t position) const {
    if (!options_.cumulative)
      return static_cast<int64_t>((*permutation_)(static_cast<uint64_t>(position)));
    const std::vector<double>& sums = *options_.cumulative;
    const double draw = Philox(derive(kWeightStream), static_cast<uint64_t>(position)).uniform64();
    const auto after = std::upper_bound(sums.begin(), sums.end() - 1, draw * sums.back());
    return after - sums.begin();
  }

  // The chunks that the window's sequences are in, in ascending order.
  const std::vector<int64_t>& chunks_of(int64_t window) {
    if (window != current_) {
      chunks_.clear();
      const int64_t begin = window * window_size_;
      for (int64_t p = begin; p < std::min(sequences_, begin + window_size_); ++p)
        chunks_.push_back(index_.find(number_at(p))->chunk);
      std::ranges::sort(chunks_);
      chunks_.erase(std::unique(chunks_.begin(), chunks_.end()), chunks_.end());
      current_ = window;
    }
    return chunks_;
  }

  std::vector<ChunkLoad> parts_of(const Window& window) {
    const int64_t number = window.begin / window_size_;
    std::vector<ChunkLoad> loads;
    for (int64_t chunk : chunks_of(number)) {
      loads.push_back({chunk, {}, 0, 0});
      loads.back().wanted.resize(static_cast<size_t>(index_.chunk(chunk).sequences));
    }
    for (int64_t position = window.begin; position < window.end; ++position) {
      if (options_.world_size > 1 && position % options_.world_size != options_.rank) continue;
      const WindowPlace place = find(number, position);
      loads[place.load].wanted[static_cast<size_t>(place.sequence)] = true;
    }
    for (ChunkLoad& load : loads) {
      const ChunkInfo info = index_.chunk(load.chunk);
      const auto count = static_cast<size_t>(std::ranges::count(load.wanted, true));
      const auto all = static_cast<size_t>(info.sequences);
      load.bytes = info.bytes / all * count + info.bytes % all;
      load.load_bytes = info.load_bytes / all * count + info.load_bytes % all;
    }
    return loads;
  }

  CorpusIndex& index_;
  OrderOptions options_;
  int64_t sweep_;
  int64_t sequences_;
  int64_t window_size_;  // sequences
  std::optional<Permutation> permutation_;
  int64_t current_ = -1;  // the window of chunks_
  std::vector<int64_t> chunks_;
};

}  // namespace

std::unique_ptr<SweepOrder> make_corpus_order(CorpusIndex& index, const OrderOptions& options,
                                              int64_t sweep) {
  return std::make_unique<CorpusOrder>(index, options, sweep);
}

}  // namespace thalweg::data
