#pragma once

#include <condition_variable>
#include <mutex>

#include "data/reader/packer.h"

namespace thalweg::data {

/// Minibatches of one size from some state on, made ahead by threads if there are any.
class Pipeline {
 public:
  struct Made {
    Minibatch minibatch;
    SourceState after;
    size_t bytes = 0;
  };

  /// What is referred to outlives the pipeline.
  Pipeline(Cursor::Context context, const MinibatchSourceOptions& options, const Packer& packer,
           int64_t size, const SourceState& state, size_t batch_bytes, std::vector<KeptChunk> kept);
  ~Pipeline();

  int64_t size() const { return size_; }
  std::optional<Made> next();

  /// Ends the threads; what is in memory may serve the next pipeline.
  std::vector<KeptChunk> stop();
  /// Of minibatches made ahead.
  size_t held_bytes() const { return ahead_ ? ahead_->held_bytes() : 0; }

 private:
  std::optional<Made> make(int64_t number);
  std::optional<Plan> plan(int64_t number);
  Made pack(const Plan& plan) const;
  void make_ahead(int workers, size_t batch_bytes, int64_t cache_size);

  SourceCounters& counters_;
  std::shared_ptr<MemoryBudget> budget_;
  const Packer& packer_;
  int64_t size_;
  std::unique_ptr<Cursor> cursor_;
  std::unique_ptr<Planner> planner_;

  std::mutex mutex_;
  std::condition_variable turn_;
  int64_t planned_ = 0;                      // minibatches; threads plan one after the other
  bool is_over_ = false;                     // none is left, or planning failed
  int64_t next_ = 0;                         // without threads: the next minibatch
  std::unique_ptr<Prefetcher<Made>> ahead_;  // last: its threads use what is above
};

}  // namespace thalweg::data
