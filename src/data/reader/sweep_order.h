#pragma once

// The order of the sequences in one pass over the corpus, and what must be in memory for it. A
// sweep is cut into windows; the sequences of a window are given out in an order of their own, from
// chunks, or parts of chunks, that are in memory for as long as the window is read.

#include <memory>

#include <thalweg/data/minibatch_source.h>

#include "data/reader/corpus_index.h"

namespace thalweg::data {

/// A chunk to be loaded, or the part of it that is wanted.
struct ChunkLoad {
  int64_t chunk = 0;
  Deserializer::Wanted wanted = {};  // empty: all of it
  size_t bytes = 0;                  // once loaded, estimated
  size_t load_bytes = 0;             // besides, while it is loaded

  bool is_same(const ChunkLoad& other) const {
    return chunk == other.chunk && wanted == other.wanted;
  }
};

struct Window {
  int64_t begin = 0;  // positions of the sweep
  int64_t end = 0;
  std::vector<ChunkLoad> loads = {};
};

/// One of the window's sequences.
struct WindowPlace {
  size_t load = 0;       // which of the window's
  int64_t sequence = 0;  // in the chunk
  int64_t number = 0;    // in the corpus
};

/// Used by one thread at a time.
class SweepOrder {
 public:
  virtual ~SweepOrder() = default;

  /// The window that has the sequence at `position`, or none after the sweep's last.
  virtual std::optional<int64_t> window_at(int64_t position) = 0;
  virtual bool has_window(int64_t window) = 0;
  virtual Window window(int64_t window) = 0;
  /// Where the sequence at `position`, in the window, is.
  virtual WindowPlace find(int64_t window, int64_t position) = 0;
};

/// What decides the order, besides the data.
struct OrderOptions {
  bool randomize = true;
  Shuffle shuffle = Shuffle::window;
  uint64_t seed = 0;
  size_t window_bytes = 0;  // of the chunks of a window
  int64_t cntk_window_chunks = 0;
  int64_t cntk_window_samples = 0;                                  // in place of chunks, if not 0
  std::shared_ptr<const std::vector<double>> cumulative = nullptr;  // weights; drawn with them
  int64_t rank = 0;  // whose sequences are wanted, of world_size
  int64_t world_size = 1;
};

std::unique_ptr<SweepOrder> make_order(CorpusIndex& index, const OrderOptions& options,
                                       int64_t sweep);

// --- one file each ---
std::unique_ptr<SweepOrder> make_data_order(CorpusIndex& index, const OrderOptions& options);
std::unique_ptr<SweepOrder> make_window_order(CorpusIndex& index, const OrderOptions& options,
                                              int64_t sweep);
std::unique_ptr<SweepOrder> make_corpus_order(CorpusIndex& index, const OrderOptions& options,
                                              int64_t sweep);
std::unique_ptr<SweepOrder> make_cntk_order(CorpusIndex& index, const OrderOptions& options,
                                            int64_t sweep);

/// All of a chunk.
ChunkLoad whole_chunk(CorpusIndex& index, int64_t chunk);

}  // namespace thalweg::data
