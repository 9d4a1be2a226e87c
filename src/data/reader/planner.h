#pragma once

// Which sequences a minibatch has. All ranks plan the same minibatches and keep their own part.

#include <memory>
#include <optional>
#include <vector>

#include <thalweg/data/minibatch_source.h>

#include "data/reader/cursor.h"
#include "data/reader/source_state.h"

namespace thalweg::data {

struct PlanItem {
  DrawnSequence drawn;
  int64_t first_sample = 0;
  int64_t samples = 0;
  int64_t slot = 0;  // truncated: of this rank's slots
  int64_t at = 0;    // truncated: where in the slot
};

struct Plan {
  std::vector<PlanItem> items;  // of this rank
  int64_t slots = 0;            // truncated: of this rank
  int64_t all_samples = 0;
  int64_t all_sequences = 0;
  int64_t repeated = 0;
  int64_t sweep = 0;
  bool end_of_sweep = false;
  SourceState after;
};

class Planner {
 public:
  virtual ~Planner() = default;
  /// None after the last.
  virtual std::optional<Plan> next() = 0;
};

/// Plans minibatches of `size` from `state` on, where the cursor stands.
std::unique_ptr<Planner> make_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                      int64_t size, const SourceState& state);

// --- one file each ---
std::unique_ptr<Planner> make_fill_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                           int64_t size, const SourceState& state);
std::unique_ptr<Planner> make_rank_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                           int64_t size, const SourceState& state);
std::unique_ptr<Planner> make_bucket_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                             int64_t size, const SourceState& state);
std::unique_ptr<Planner> make_slot_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                           int64_t size, const SourceState& state);

/// Whether the data end before the sequence because of max_samples.
inline bool is_after_last(const MinibatchSourceOptions& options, const SourceState& at) {
  return options.max_samples > 0 && at.samples >= options.max_samples;
}

/// Puts the state before what the cursor gives next; at the end, before the sweep after `sweep`.
void move_to_next(Cursor& cursor, int64_t sweep, SourceState& state);

}  // namespace thalweg::data
