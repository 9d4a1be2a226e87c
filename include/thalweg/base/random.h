#pragma once

// The process's default source of random numbers: a seed and how many Philox blocks of it were
// used.

#include <cstdint>

#include <thalweg/base/export.h>

namespace thalweg {

/// Names the next unused block, philox(seed, offset). Two numbers, so a checkpoint keeps all of it.
struct RandomState {
  uint64_t seed = 0;
  uint64_t offset = 0;

  friend bool operator==(const RandomState&, const RandomState&) = default;
};

/// Starts the default sequence anew. Without a call the seed is 0: runs are reproducible.
THALWEG_API void manual_seed(uint64_t seed);

THALWEG_API RandomState default_random_state();
THALWEG_API void set_default_random_state(RandomState state);

/// Takes `blocks` blocks of four words out of the default sequence; the caller alone draws from
/// philox(seed, offset) .. philox(seed, offset + blocks - 1). Any thread may call it.
THALWEG_API RandomState reserve_random(uint64_t blocks);

}  // namespace thalweg
