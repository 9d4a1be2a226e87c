#pragma once

#include <algorithm>
#include <cstddef>

#include "data/reader/corpus_index.h"
#include "data/reader/sweep_order.h"

namespace thalweg::data {

/// How memory_limit is shared out.
struct MemoryShares {
  size_t chunk = 0;    // one chunk, loaded and while it loads
  size_t chunks = 0;   // all chunks: the window that is read, and what is loaded ahead
  size_t window = 0;   // chunks of one window
  size_t batches = 0;  // minibatches made ahead
};

/// Chunks of more bytes do not load faster, and let the first minibatch wait.
inline constexpr size_t kMostChunkBytes = size_t{8} << 20;

inline size_t chunk_share(size_t limit) { return std::min(limit / 16, kMostChunkBytes); }

/// In the order of the data few chunks are held. Mixed data are held whole if they fit, else two
/// windows of them: one that is read and one that is loaded.
inline MemoryShares share_memory(size_t limit, const OrderOptions& order, CorpusIndex& index) {
  MemoryShares shares;
  shares.chunk = chunk_share(limit);
  // What malloc and the lists of places take besides.
  const size_t reserve = limit / 8;
  if (!order.randomize && !order.cumulative) {
    shares.chunks = limit / 2;
  } else {
    shares.chunks = limit / 4 * 3;
    const size_t room = shares.chunks - shares.chunk;
    const size_t all = index.bytes();
    if (order.shuffle == Shuffle::cntk && !order.cumulative) {
      shares.window = room;
    } else if (all <= room) {
      shares.window = all;
      shares.chunks = std::max(limit / 2, all + shares.chunk);
    } else {
      shares.window = (room - shares.chunk) / 2;
    }
  }
  shares.batches = limit - reserve - shares.chunks;
  return shares;
}

}  // namespace thalweg::data
