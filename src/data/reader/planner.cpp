#include "data/reader/planner.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"

namespace thalweg::data {
namespace {

// Whole sequences in the cursor's order.
class FillPlanner final : public Planner {
 public:
  FillPlanner(Cursor& cursor, const MinibatchSourceOptions& options, int64_t size,
              const SourceState& state)
      : cursor_(cursor), options_(options), size_(size), state_(state) {}

  std::optional<Plan> next() override {
    if (options_.sweep_end == SweepEnd::drop) return next_full();
    Plan plan = fill();
    if (plan.all_sequences == 0) return std::nullopt;
    if (options_.sweep_end == SweepEnd::pad && ends_early_ && filled_ < size_) pad(plan);
    return plan;
  }

 private:
  // Looks ahead by one, as the last whole minibatch is the end of a sweep whose rest is dropped.
  std::optional<Plan> next_full() {
    std::optional<Plan> plan = std::exchange(ahead_, std::nullopt);
    for (int dropped = 0; !ahead_;) {
      Plan next = fill();
      if (next.all_sequences == 0) break;
      if (!ends_early_ || filled_ >= size_) {
        (plan ? ahead_ : plan) = std::move(next);
        continue;
      }
      if (plan) {
        plan->end_of_sweep = true;
        plan->after = next.after;
        break;
      }
      if (++dropped == 2 && options_.max_sweeps == 0) {
        fail_invalid("reader: a sweep has {} samples, less than a minibatch of {}; nothing is left",
                     next.all_samples, size_);
      }
    }
    return plan;
  }

  Plan fill() {
    Plan plan;
    plan.items.reserve(last_items_);
    all_.clear();
    filled_ = 0;
    ends_early_ = false;
    int64_t sweep = state_.sweep;
    while (plan.all_sequences == 0 || filled_ < size_) {
      const DrawnSequence* drawn = cursor_.peek();
      if (!drawn || is_after_last(options_, state_)) {
        ends_early_ = true;
        break;
      }
      if (plan.all_sequences == 0) {
        plan.sweep = drawn->sweep;
      } else if (drawn->sweep != sweep && options_.sweep_end != SweepEnd::cross) {
        ends_early_ = true;
        break;
      }
      const int64_t amount = options_.size_unit == SizeUnit::samples ? drawn->length : 1;
      if (plan.all_sequences > 0 && filled_ + amount > size_) break;
      filled_ += amount;
      sweep = drawn->sweep;
      plan.all_samples += drawn->length;
      state_.samples += drawn->length;
      ++plan.all_sequences;
      const bool is_own = drawn->position % options_.world_size == options_.rank;
      PlanItem item{cursor_.take()};
      item.samples = item.drawn.length;
      if (options_.sweep_end == SweepEnd::pad) all_.push_back(item);
      if (is_own) plan.items.push_back(std::move(item));
    }
    last_items_ = plan.items.size();
    move_to_next(cursor_, sweep, state_);
    plan.end_of_sweep = state_.sweep > plan.sweep;
    plan.after = state_;
    return plan;
  }

  // This rank's sequences are as many as any rank has.
  void pad(Plan& plan) const {
    std::vector<size_t> counts(static_cast<size_t>(options_.world_size));
    for (const PlanItem& item : all_)
      ++counts[static_cast<size_t>(item.drawn.position % options_.world_size)];
    const size_t most = std::ranges::max(counts);
    for (size_t i = 0; plan.items.size() < most; ++i) {
      plan.items.push_back(all_[i % all_.size()]);
      ++plan.repeated;
    }
  }

  Cursor& cursor_;
  const MinibatchSourceOptions& options_;
  int64_t size_;
  SourceState state_;
  std::vector<PlanItem> all_;  // of all ranks, if they are needed to pad
  size_t last_items_ = 0;      // of the minibatch before
  std::optional<Plan> ahead_;  // that comes after the one given
  int64_t filled_ = 0;         // of size_
  bool ends_early_ = false;    // the sweep, or all, ended before more could be added
};

}  // namespace

void move_to_next(Cursor& cursor, int64_t sweep, SourceState& state) {
  const DrawnSequence* next = cursor.peek();
  state.sweep = next ? next->sweep : sweep + 1;
  state.position = next ? next->position : 0;
}

std::unique_ptr<Planner> make_fill_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                           int64_t size, const SourceState& state) {
  return std::make_unique<FillPlanner>(cursor, options, size, state);
}

std::unique_ptr<Planner> make_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                      int64_t size, const SourceState& state) {
  if (options.packing == Packing::truncated) return make_slot_planner(cursor, options, size, state);
  if (options.fill_by_rank) return make_rank_planner(cursor, options, size, state);
  if (options.bucket_sequences > 0) return make_bucket_planner(cursor, options, size, state);
  return make_fill_planner(cursor, options, size, state);
}

}  // namespace thalweg::data
