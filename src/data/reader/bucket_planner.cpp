#include <algorithm>

#include <thalweg/base/permutation.h>

#include "data/reader/planner.h"

namespace thalweg::data {
namespace {

constexpr uint64_t kBucketStream = 0xB0CE7;

// Minibatches of sequences of about the same length: the next so many sequences of a sweep, sorted
// by length, are cut into minibatches, and those are given out in an order of their own.
class BucketPlanner final : public Planner {
 public:
  BucketPlanner(Cursor& cursor, const MinibatchSourceOptions& options, int64_t size,
                const SourceState& state)
      : cursor_(cursor), options_(options), size_(size), state_(state) {}

  std::optional<Plan> next() override {
    if (next_ == batches_.size() && !begin_bucket()) return std::nullopt;
    const Batch& batch = batches_[batch_at(next_)];
    Plan plan;
    plan.sweep = state_.sweep;
    plan.all_sequences = batch.end - batch.begin;
    for (int64_t i = batch.begin; i < batch.end; ++i) {
      const PlanItem& item = bucket_[static_cast<size_t>(i)];
      plan.all_samples += item.samples;
      if ((i - batch.begin) % options_.world_size == options_.rank) plan.items.push_back(item);
    }
    state_.samples += plan.all_samples;
    state_.bucket_next = static_cast<int64_t>(++next_);
    if (next_ == batches_.size()) {
      bucket_.clear();
      state_.bucket_size = state_.bucket_next = 0;
      move_to_next(cursor_, state_.sweep, state_);
    }
    plan.end_of_sweep = state_.sweep > plan.sweep;
    plan.after = state_;
    return plan;
  }

 private:
  struct Batch {
    int64_t begin;
    int64_t end;
  };

  bool begin_bucket() {
    const DrawnSequence* drawn = cursor_.peek();
    if (!drawn || is_after_last(options_, state_)) return false;
    if (state_.bucket_size == 0) {
      state_.bucket_size = size_;
      state_.sweep = drawn->sweep;
      state_.position = drawn->position;
    }
    while (drawn && drawn->sweep == state_.sweep &&
           static_cast<int64_t>(bucket_.size()) < options_.bucket_sequences) {
      bucket_.push_back({cursor_.take()});
      bucket_.back().samples = bucket_.back().drawn.length;
      drawn = cursor_.peek();
    }
    std::ranges::stable_sort(bucket_, {}, &PlanItem::samples);
    cut();
    next_ = static_cast<size_t>(state_.bucket_next);
    return true;
  }

  void cut() {
    batches_.clear();
    int64_t filled = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(bucket_.size()); ++i) {
      const int64_t samples = bucket_[static_cast<size_t>(i)].samples;
      const int64_t amount = options_.size_unit == SizeUnit::samples ? samples : 1;
      if (batches_.empty() || filled + amount > state_.bucket_size) {
        batches_.push_back({i, i});
        filled = 0;
      }
      filled += amount;
      batches_.back().end = i + 1;
    }
  }

  size_t batch_at(size_t next) const {
    if (!options_.randomize) return next;
    const uint64_t sweep_seed =
        derive_seed(state_.seed, static_cast<uint64_t>(state_.sweep), kBucketStream);
    return permute(next, batches_.size(),
                   derive_seed(sweep_seed, static_cast<uint64_t>(state_.position)));
  }

  Cursor& cursor_;
  const MinibatchSourceOptions& options_;
  int64_t size_;
  SourceState state_;
  std::vector<PlanItem> bucket_;  // by length
  std::vector<Batch> batches_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Planner> make_bucket_planner(Cursor& cursor, const MinibatchSourceOptions& options,
                                             int64_t size, const SourceState& state) {
  return std::make_unique<BucketPlanner>(cursor, options, size, state);
}

}  // namespace thalweg::data
