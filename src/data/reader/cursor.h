#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>

#include "data/prefetcher.h"
#include "data/reader/held_chunk.h"
#include "data/reader/load_list.h"

namespace thalweg::data {

/// A sequence in its place in the order.
struct DrawnSequence {
  HeldChunkPtr chunk;
  int64_t sequence = 0;  // in the chunk
  int64_t number = 0;    // in the corpus
  int64_t key = 0;       // what its random transforms draw by
  int64_t sweep = 0;
  int64_t position = 0;  // in the sweep
  int64_t length = 0;    // samples
};

/// Nanoseconds and counts, added to by all threads.
struct SourceCounters {
  std::atomic<int64_t> load_ns{0};
  std::atomic<int64_t> make_ns{0};
  std::atomic<int64_t> transform_ns{0};
  std::atomic<int64_t> chunks{0};
};

/// A chunk that is in memory, and what it is.
struct KeptChunk {
  ChunkLoad load;
  HeldChunkPtr chunk;
};

/// Walks through the sequences of sweep after sweep, with chunks loaded ahead by threads. Used by
/// one thread at a time.
class Cursor {
 public:
  struct Context {
    CorpusIndex& index;
    OrderOptions order;
    int64_t max_sweeps = 0;  // 0: without end
    int workers = 0;         // 0: chunks are loaded when they are needed
    std::shared_ptr<MemoryBudget> budget;
    SourceCounters& counters;
  };

  /// `kept` may spare loads.
  Cursor(Context context, int64_t sweep, int64_t position, std::vector<KeptChunk> kept);
  ~Cursor();

  /// The next sequence that is not dropped; null after the last. Loads what it needs.
  const DrawnSequence* peek();
  /// What peek() gave; moves on.
  DrawnSequence take() {
    has_next_ = false;
    return std::move(next_);
  }

  /// The sequence at any place, with its chunk loaded for it alone.
  DrawnSequence fetch(int64_t sweep, int64_t position);

  /// What is in memory now.
  std::vector<KeptChunk> kept() const;

 private:
  DrawnSequence drawn(const WindowPlace& place, HeldChunkPtr chunk, int64_t sweep,
                      int64_t position) const;
  bool enter_window();
  HeldChunkPtr load_of(int64_t number);
  std::optional<HeldChunkPtr> load_ahead(int64_t number);
  HeldChunkPtr load_now(const ChunkLoad& load, size_t reserved = 0);
  void check_size(const ChunkLoad& load) const;

  Context context_;
  LoadList list_;
  std::vector<KeptChunk> kept_;
  int64_t position_;

  std::optional<WindowLoads> window_;
  std::unique_ptr<SweepOrder> order_;
  int64_t order_sweep_ = -1;
  std::unordered_map<int64_t, HeldChunkPtr> held_;  // the window's, by number of the load
  std::vector<HeldChunkPtr> chunks_;                // the same, as in window_->window.loads
  int64_t taken_ = 0;                               // loads

  bool has_next_ = false;
  bool is_over_ = false;
  DrawnSequence next_;
  std::unique_ptr<Prefetcher<HeldChunkPtr>> ahead_;  // last: its threads use what is above
};

}  // namespace thalweg::data
