// The order of CNTK 2's block randomizer: full-range swaps of chunks, then of sequences within
// windows of chunks, by std::mt19937_64 seeded with seed + sweep.

#include <algorithm>
#include <random>

#include "base/fail.h"
#include "data/reader/sweep_order.h"

namespace thalweg::data {
namespace {

// Chunk numbers count in the shuffled order here.
class CntkOrder final : public SweepOrder {
 public:
  CntkOrder(CorpusIndex& index, const OrderOptions& options, int64_t sweep)
      : index_(index), options_(options) {
    const std::mt19937_64 fresh(options.seed + static_cast<uint64_t>(sweep));
    shuffle_chunks(fresh);
    choose_windows();
    shuffle_sequences(fresh);
    find_needed();
  }

  std::optional<int64_t> window_at(int64_t position) override {
    if (position >= begins_.back()) return std::nullopt;
    return chunk_of(position);
  }

  bool has_window(int64_t window) override { return window < static_cast<int64_t>(chunks_.size()); }

  Window window(int64_t window) override {
    const auto w = static_cast<size_t>(window);
    Window result{begins_[w], begins_[w + 1], {}};
    size_t bytes = 0;
    for (int64_t i = needed_[w].begin; i < needed_[w].end; ++i) {
      result.loads.push_back(whole_chunk(index_, chunks_[static_cast<size_t>(i)]));
      bytes += result.loads.back().bytes;
    }
    if (bytes > options_.window_bytes) {
      fail_invalid(
          "reader: CNTK's order needs {} chunks at once, {} bytes, and there is memory for {}; "
          "give more memory or a smaller window",
          result.loads.size(), bytes, options_.window_bytes);
    }
    return result;
  }

  WindowPlace find(int64_t window, int64_t position) override {
    const Sequence& it = sequences_[static_cast<size_t>(position)];
    const int64_t first = index_.first_sequence(chunks_[static_cast<size_t>(it.chunk)]);
    return {static_cast<size_t>(it.chunk - needed_[static_cast<size_t>(window)].begin), it.sequence,
            first + it.sequence};
  }

 private:
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
    bool has(int64_t chunk) const { return chunk >= begin && chunk < end; }
  };
  struct Sequence {
    int64_t chunk = 0;
    int64_t sequence = 0;
  };

  int64_t chunk_of(int64_t position) const {
    return std::upper_bound(begins_.begin(), begins_.end(), position) - begins_.begin() - 1;
  }

  void shuffle_chunks(std::mt19937_64 random) {
    for (int64_t i = 0; i < index_.chunks(); ++i) chunks_.push_back(i);
    for (int64_t& chunk : chunks_) std::swap(chunk, chunks_[random() % chunks_.size()]);
    for (int64_t chunk : chunks_) {
      const ChunkInfo info = index_.chunk(chunk);
      begins_.push_back(begins_.back() + info.sequences);
      samples_.push_back(samples_.back() + (info.samples > 0 ? info.samples : info.sequences));
    }
  }

  void choose_windows() {
    const auto n = static_cast<int64_t>(chunks_.size());
    const int64_t half = options_.cntk_window_samples / 2;
    const auto start = [&](int64_t chunk) { return samples_[static_cast<size_t>(chunk)]; };
    Range by_samples;
    for (int64_t i = 0; i < n; ++i) {
      if (options_.cntk_window_samples > 0) {
        while (start(i) - start(by_samples.begin) > half) ++by_samples.begin;
        by_samples.end = std::max(by_samples.end, i + 1);
        while (by_samples.end < n && start(by_samples.end + 1) - start(i) < half) ++by_samples.end;
        windows_.push_back(by_samples);
      } else {
        const int64_t width = std::min(n, options_.cntk_window_chunks);
        const int64_t begin = std::max<int64_t>(0, i - options_.cntk_window_chunks / 2);
        windows_.push_back(begin + width > n ? Range{n - width, n} : Range{begin, begin + width});
      }
    }
  }

  void shuffle_sequences(std::mt19937_64 random) {
    for (size_t i = 0; i < chunks_.size(); ++i)
      for (int64_t s = 0; s < begins_[i + 1] - begins_[i]; ++s)
        sequences_.push_back({static_cast<int64_t>(i), s});
    for (size_t t = 0; t < sequences_.size(); ++t) {
      const int64_t here = chunk_of(static_cast<int64_t>(t));
      const Range& window = windows_[static_cast<size_t>(here)];
      const int64_t begin = begins_[static_cast<size_t>(window.begin)];
      const int64_t end = begins_[static_cast<size_t>(window.end)];
      for (;;) {
        const int64_t j =
            begin + static_cast<int64_t>(random() % static_cast<uint64_t>(end - begin));
        const int64_t there = chunk_of(j);
        Sequence& other = sequences_[static_cast<size_t>(j)];
        if (!windows_[static_cast<size_t>(other.chunk)].has(here)) continue;
        if (!windows_[static_cast<size_t>(sequences_[t].chunk)].has(there)) continue;
        std::swap(sequences_[t], other);
        break;
      }
    }
  }

  // The chunks from which the sequences at the positions of each chunk come, as one range that only
  // moves on, so that none is loaded twice.
  void find_needed() {
    const size_t n = chunks_.size();
    needed_.resize(n);
    int64_t end = 0;
    for (size_t i = 0; i < n; ++i) {
      end = std::max(end, static_cast<int64_t>(i) + 1);
      for (int64_t p = begins_[i]; p < begins_[i + 1]; ++p)
        end = std::max(end, sequences_[static_cast<size_t>(p)].chunk + 1);
      needed_[i].end = end;
    }
    auto begin = static_cast<int64_t>(n);
    for (size_t i = n; i-- > 0;) {
      begin = std::min(begin, static_cast<int64_t>(i));
      for (int64_t p = begins_[i]; p < begins_[i + 1]; ++p)
        begin = std::min(begin, sequences_[static_cast<size_t>(p)].chunk);
      needed_[i].begin = begin;
    }
  }

  CorpusIndex& index_;
  OrderOptions options_;
  std::vector<int64_t> chunks_;      // in shuffled order
  std::vector<int64_t> begins_{0};   // positions at which they begin, and the end
  std::vector<int64_t> samples_{0};  // the same in samples
  std::vector<Range> windows_;       // of each chunk
  std::vector<Sequence> sequences_;  // by position
  std::vector<Range> needed_;        // chunks, for the positions of each chunk
};

}  // namespace

std::unique_ptr<SweepOrder> make_cntk_order(CorpusIndex& index, const OrderOptions& options,
                                            int64_t sweep) {
  return std::make_unique<CntkOrder>(index, options, sweep);
}

}  // namespace thalweg::data
