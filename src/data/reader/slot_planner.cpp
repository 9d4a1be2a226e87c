#include <algorithm>

#include "base/fail.h"
#include "data/reader/planner.h"

namespace thalweg::data {
namespace {

// Truncated sequences: every slot reads sequences one after the other, T samples in a minibatch,
// and goes on in the next minibatch where it ended.
class SlotPlanner final : public Planner {
 public:
  SlotPlanner(Cursor& cursor, const MinibatchSourceOptions& options, int64_t size,
              const SourceState& state)
      : cursor_(cursor), options_(options), state_(state) {
    const int64_t count = std::max<int64_t>(1, size / options_.truncation);
    if (state_.slots.empty()) state_.slots.resize(static_cast<size_t>(count));
    current_.resize(state_.slots.size());
    for (size_t i = 0; i < current_.size(); ++i) {
      const SourceState::Slot& slot = state_.slots[i];
      if (slot.samples > 0) current_[i] = {cursor_.fetch(slot.sweep, slot.position), slot.samples};
    }
  }

  std::optional<Plan> next() override {
    const auto world = static_cast<size_t>(options_.world_size);
    Plan plan;
    bool is_empty = true;
    sweep_ = -1;
    for (size_t i = 0; i < current_.size(); ++i) {
      const bool is_own = i % world == static_cast<size_t>(options_.rank);
      for (int64_t at = 0; at < options_.truncation && has_sequence(current_[i]);) {
        const PlanItem item = take(current_[i], options_.truncation - at);
        if (is_empty) plan.sweep = item.drawn.sweep;
        is_empty = false;
        plan.all_samples += item.samples;
        ++plan.all_sequences;
        if (is_own) {
          plan.items.push_back(item);
          plan.items.back().slot = static_cast<int64_t>(i / world);
          plan.items.back().at = at;
        }
        at += item.samples;
      }
      if (is_own) ++plan.slots;
    }
    if (is_empty) return std::nullopt;
    finish(plan);
    return plan;
  }

 private:
  struct Slot {
    DrawnSequence drawn;
    int64_t samples = 0;  // given of it
  };

  // Whether the slot has something to give, a new sequence if the last one is over. A sweep begins
  // when all slots are through with the one before.
  bool has_sequence(Slot& slot) {
    while (!slot.drawn.chunk) {
      const DrawnSequence* next = cursor_.peek();
      if (!next || is_after_last(options_, state_)) return false;
      const bool is_other_sweep = sweep_ >= 0 && next->sweep != sweep_;
      if (options_.sweep_end != SweepEnd::cross && (is_other_sweep || is_in_older_sweep(*next)))
        return false;
      state_.samples += next->length;
      DrawnSequence drawn = cursor_.take();
      if (drawn.length > 0) slot = {std::move(drawn), 0};
    }
    return true;
  }

  bool is_in_older_sweep(const DrawnSequence& next) const {
    return std::ranges::any_of(current_, [&](const Slot& slot) {
      return slot.drawn.chunk && slot.drawn.sweep != next.sweep;
    });
  }

  PlanItem take(Slot& slot, int64_t room) {
    const int64_t samples = std::min(room, slot.drawn.length - slot.samples);
    PlanItem item{slot.drawn, slot.samples, samples};
    sweep_ = slot.drawn.sweep;
    slot.samples += samples;
    if (slot.samples == slot.drawn.length) slot = {};
    return item;
  }

  void finish(Plan& plan) {
    for (size_t i = 0; i < current_.size(); ++i) {
      const Slot& slot = current_[i];
      state_.slots[i] = {};
      if (slot.drawn.chunk) state_.slots[i] = {slot.drawn.sweep, slot.drawn.position, slot.samples};
    }
    move_to_next(cursor_, sweep_, state_);
    const bool is_through = std::ranges::none_of(current_, [&](const Slot& slot) {
      return slot.drawn.chunk && slot.drawn.sweep == plan.sweep;
    });
    plan.end_of_sweep = is_through && state_.sweep > plan.sweep;
    plan.after = state_;
  }

  Cursor& cursor_;
  const MinibatchSourceOptions& options_;
  SourceState state_;
  std::vector<Slot> current_;
  int64_t sweep_ = -1;  // of what the minibatch was given last
};

}  // namespace

std::unique_ptr<Planner> make_slot_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                           int64_t size, const SourceState& state) {
  return std::make_unique<SlotPlanner>(cursor, options, size, state);
}

}  // namespace thalweg::data
