#include <algorithm>

#include "data/reader/planner.h"

namespace thalweg::data {
namespace {

// CNTK's way to share minibatches: the sequences of the order go to the ranks in turn, and each
// rank fills minibatches of its share of the size with its own.
class RankPlanner final : public Planner {
 public:
  RankPlanner(Cursor& cursor, const MinibatchSourceOptions& options, int64_t size,
              const SourceState& state)
      : cursor_(cursor), options_(options), state_(state) {
    const bool has_one_more = options.rank < size % options.world_size;
    share_ = std::max<int64_t>(1, size / options.world_size + (has_one_more ? 1 : 0));
  }

  std::optional<Plan> next() override {
    Plan plan;
    int64_t sweep = state_.sweep;
    int64_t filled = 0;
    while (const DrawnSequence* drawn = next_own()) {
      const int64_t amount = options_.size_unit == SizeUnit::samples ? drawn->length : 1;
      if (plan.items.empty()) plan.sweep = drawn->sweep;
      if (!plan.items.empty() && filled + amount > share_) break;
      filled += amount;
      sweep = drawn->sweep;
      state_.samples += drawn->length;
      plan.all_samples += drawn->length;
      PlanItem item{cursor_.take()};
      item.samples = item.drawn.length;
      plan.items.push_back(std::move(item));
    }
    if (plan.items.empty()) return std::nullopt;
    plan.all_sequences = static_cast<int64_t>(plan.items.size());
    move_to_next(cursor_, sweep, state_);
    plan.end_of_sweep = state_.sweep > plan.sweep;
    plan.after = state_;
    return plan;
  }

 private:
  // Passes over those of other ranks, which count towards the end of the data.
  const DrawnSequence* next_own() {
    for (;;) {
      const DrawnSequence* drawn = cursor_.peek();
      if (!drawn || is_after_last(options_, state_)) return nullptr;
      if (drawn->position % options_.world_size == options_.rank) return drawn;
      state_.samples += drawn->length;
      cursor_.take();
    }
  }

  Cursor& cursor_;
  const MinibatchSourceOptions& options_;
  SourceState state_;
  int64_t share_;
};

}  // namespace

std::unique_ptr<Planner> make_rank_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                           int64_t size, const SourceState& state) {
  return std::make_unique<RankPlanner>(cursor, options, size, state);
}

}  // namespace thalweg::data
