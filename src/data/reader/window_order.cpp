#include <algorithm>

#include <thalweg/base/permutation.h>

#include "data/reader/sweep_order.h"

namespace thalweg::data {
namespace {

constexpr uint64_t kChunkStream = 0xC40C5;
constexpr uint64_t kWindowStream = 0x3170D0;

// Chunks in the order of a permutation, cut into windows that memory holds; a permutation of its
// own for the sequences of each window.
class WindowOrder final : public SweepOrder {
 public:
  WindowOrder(CorpusIndex& index, const OrderOptions& options, int64_t sweep)
      : index_(index), options_(options), sweep_(sweep) {
    const int64_t n = index.chunks();
    if (n == 0) return;
    const Permutation order(static_cast<uint64_t>(n), derive(kChunkStream));
    size_t bytes = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto chunk = static_cast<int64_t>(order(static_cast<uint64_t>(i)));
      const ChunkInfo info = index.chunk(chunk);
      if (info.sequences == 0) continue;
      if (chunks_.empty() || bytes + info.bytes > options.window_bytes) {
        windows_.push_back(chunks_.size());
        bytes = 0;
      }
      bytes += info.bytes;
      chunks_.push_back(chunk);
      numbers_.push_back(index.first_sequence(chunk));
      begins_.push_back(begins_.back() + info.sequences);
    }
  }

  std::optional<int64_t> window_at(int64_t position) override {
    if (position >= begins_.back()) return std::nullopt;
    const auto after =
        std::upper_bound(windows_.begin(), windows_.end(), position,
                         [&](int64_t p, size_t first) { return p < begins_[first]; });
    return after - windows_.begin() - 1;
  }

  bool has_window(int64_t window) override {
    return window < static_cast<int64_t>(windows_.size());
  }

  Window window(int64_t window) override {
    const auto [first, last] = chunks_of(window);
    Window result{begins_[first], begins_[last], {}};
    for (size_t i = first; i < last; ++i) result.loads.push_back(whole_chunk(index_, chunks_[i]));
    // What is one window is kept for all sweeps.
    const bool is_all = windows_.size() == 1;
    if (options_.world_size > 1 && !is_all) want_own(window, result);
    return result;
  }

  WindowPlace find(int64_t window, int64_t position) override {
    const auto [first, last] = chunks_of(window);
    if (window != current_) {
      const auto count = static_cast<uint64_t>(begins_[last] - begins_[first]);
      permutation_.emplace(count,
                           derive_seed(derive(kWindowStream), static_cast<uint64_t>(window)));
      current_ = window;
    }
    const auto local = static_cast<uint64_t>(position - begins_[first]);
    const int64_t place = begins_[first] + static_cast<int64_t>((*permutation_)(local));
    if (last - first == 1)
      return {0, place - begins_[first], numbers_[first] + place - begins_[first]};
    const auto begin = begins_.begin();
    const auto after = std::upper_bound(begin + static_cast<std::ptrdiff_t>(first),
                                        begin + static_cast<std::ptrdiff_t>(last), place);
    const auto chunk = static_cast<size_t>(after - begin - 1);
    const int64_t sequence = place - begins_[chunk];
    return {chunk - first, sequence, numbers_[chunk] + sequence};
  }

 private:
  uint64_t derive(uint64_t stream) const {
    return derive_seed(options_.seed, static_cast<uint64_t>(sweep_), stream);
  }

  std::pair<size_t, size_t> chunks_of(int64_t window) const {
    const auto w = static_cast<size_t>(window);
    return {windows_[w], w + 1 < windows_.size() ? windows_[w + 1] : chunks_.size()};
  }

  void want_own(int64_t window, Window& result) {
    for (size_t i = 0; i < result.loads.size(); ++i) {
      const size_t chunk = chunks_of(window).first + i;
      result.loads[i].wanted.resize(static_cast<size_t>(begins_[chunk + 1] - begins_[chunk]));
    }
    for (int64_t position = result.begin; position < result.end; ++position) {
      if (position % options_.world_size != options_.rank) continue;
      const WindowPlace place = find(window, position);
      result.loads[place.load].wanted[static_cast<size_t>(place.sequence)] = true;
    }
  }

  CorpusIndex& index_;
  OrderOptions options_;
  int64_t sweep_;
  std::vector<int64_t> chunks_;     // in the sweep's order
  std::vector<int64_t> numbers_;    // of their first sequences in the corpus
  std::vector<int64_t> begins_{0};  // positions at which they begin if not mixed, and the end
  std::vector<size_t> windows_;     // the first of each, in chunks_
  int64_t current_ = -1;            // the window of the permutation
  std::optional<Permutation> permutation_;
};

}  // namespace

std::unique_ptr<SweepOrder> make_window_order(CorpusIndex& index, const OrderOptions& options,
                                              int64_t sweep) {
  return std::make_unique<WindowOrder>(index, options, sweep);
}

}  // namespace thalweg::data
