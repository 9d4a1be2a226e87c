#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// Where a sequence is: its chunk and its number there.
struct Place {
  int64_t chunk = 0;
  int64_t sequence = 0;
};

/// What is known of all chunks of a corpus, asked for once and only as far as needed.
class CorpusIndex {
 public:
  explicit CorpusIndex(DeserializerHandle deserializer) : deserializer_(std::move(deserializer)) {}

  const Deserializer& deserializer() const { return *deserializer_; }
  bool has_chunk(int64_t chunk);
  ChunkInfo chunk(int64_t chunk);
  /// Sequences before the first of `chunk`, which is in the corpus or one after its last.
  int64_t first_sequence(int64_t chunk);
  /// The sequence of this number in the corpus; none if there are fewer.
  std::optional<Place> find(int64_t number);

  // These index all chunks.
  int64_t chunks();
  int64_t sequences();
  /// Sequences where the deserializer does not know samples.
  int64_t samples();
  /// Of all chunks once loaded.
  size_t bytes();

 private:
  bool extend_to(int64_t chunk);  // under the lock, as those below
  void extend();

  DeserializerHandle deserializer_;
  std::mutex mutex_;
  bool is_whole_ = false;
  std::vector<ChunkInfo> chunks_;
  std::vector<int64_t> first_{0};  // sequences before each chunk, and after the last known
};

}  // namespace thalweg::data
