#include "data/reader/corpus_index.h"

#include <algorithm>

#include "base/fail.h"

namespace thalweg::data {

bool CorpusIndex::extend_to(int64_t chunk) {
  while (static_cast<int64_t>(chunks_.size()) <= chunk) {
    const auto next = static_cast<int64_t>(chunks_.size());
    is_whole_ = is_whole_ || !deserializer_->has_chunk(next);
    if (is_whole_) return false;
    const ChunkInfo info = deserializer_->chunk(next);
    if (info.sequences < 0)
      fail_invalid("reader: chunk {} of {} has {} sequences", next, deserializer_->name(),
                   info.sequences);
    chunks_.push_back(info);
    first_.push_back(first_.back() + info.sequences);
  }
  return true;
}

void CorpusIndex::extend() {
  while (!is_whole_) extend_to(static_cast<int64_t>(chunks_.size()));
}

bool CorpusIndex::has_chunk(int64_t chunk) {
  const std::lock_guard lock(mutex_);
  return extend_to(chunk);
}

ChunkInfo CorpusIndex::chunk(int64_t chunk) {
  const std::lock_guard lock(mutex_);
  THALWEG_ASSERT(extend_to(chunk));
  return chunks_[static_cast<size_t>(chunk)];
}

int64_t CorpusIndex::first_sequence(int64_t chunk) {
  const std::lock_guard lock(mutex_);
  if (chunk > 0) THALWEG_ASSERT(extend_to(chunk - 1));
  return first_[static_cast<size_t>(chunk)];
}

std::optional<Place> CorpusIndex::find(int64_t number) {
  const std::lock_guard lock(mutex_);
  while (number >= first_.back() && extend_to(static_cast<int64_t>(chunks_.size()))) {
  }
  if (number >= first_.back()) return std::nullopt;
  const auto after = std::upper_bound(first_.begin(), first_.end(), number);
  const int64_t chunk = after - first_.begin() - 1;
  return Place{chunk, number - first_[static_cast<size_t>(chunk)]};
}

int64_t CorpusIndex::chunks() {
  const std::lock_guard lock(mutex_);
  extend();
  return static_cast<int64_t>(chunks_.size());
}

int64_t CorpusIndex::sequences() {
  const std::lock_guard lock(mutex_);
  extend();
  return first_.back();
}

int64_t CorpusIndex::samples() {
  const std::lock_guard lock(mutex_);
  extend();
  int64_t samples = 0;
  for (const ChunkInfo& chunk : chunks_)
    samples += chunk.samples > 0 ? chunk.samples : chunk.sequences;
  return samples;
}

size_t CorpusIndex::bytes() {
  const std::lock_guard lock(mutex_);
  extend();
  size_t bytes = 0;
  for (const ChunkInfo& chunk : chunks_) bytes += chunk.bytes;
  return bytes;
}

}  // namespace thalweg::data
