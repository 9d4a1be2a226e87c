#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::data {

/// Where a source stands, and what its order depends on. All numbers are those of all ranks
/// together, so that any number of ranks can go on.
struct SourceState {
  /// A slot of truncated packing that is in the middle of a sequence.
  struct Slot {
    int64_t sweep = 0;
    int64_t position = 0;
    int64_t samples = 0;  // given already
    friend bool operator==(const Slot&, const Slot&) = default;
  };

  uint64_t seed = 0;
  int64_t sweep = 0;        // of the next sequence
  int64_t position = 0;     // of the next sequence in the sweep; bucketing: of the bucket's first
  int64_t samples = 0;      // given so far
  int64_t bucket_size = 0;  // size of the minibatches that the bucket was cut into; 0: not begun
  int64_t bucket_next = 0;  // the next of them
  std::vector<Slot> slots = {};  // truncated; one that is not in a sequence has samples 0

  int64_t sequences = -1;   // in the corpus; -1: not known, as the data were not indexed
  size_t chunk_bytes = 0;   // see Deserializer::limit_chunks
  size_t window_bytes = 0;  // see OrderOptions
  std::string order = {};   // the options that the order depends on

  friend bool operator==(const SourceState&, const SourceState&) = default;
};

std::string to_json(const SourceState& state);

/// Throws Error{invalid} for text that to_json did not make.
SourceState source_state_from(std::string_view json);

}  // namespace thalweg::data
