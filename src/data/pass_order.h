#pragma once

#include <vector>

#include <thalweg/data/loader.h>

namespace thalweg::data {

/// Which samples the batches of one pass hold: arithmetic only. A pass is a line of samples, first
/// those carried over from earlier epochs, then all of this epoch in its order. The ranks together
/// take batch_size * world_size of them at a time, rank r those at r, r + world_size, ...; so the
/// order in which samples are used does not depend on the number of ranks.
class PassOrder {
 public:
  /// `state` must fit the data set; see check_state.
  PassOrder(const DataLoaderOptions& options, const LoaderState& state);

  int64_t epoch() const { return epoch_; }
  /// Samples in the line.
  int64_t length() const { return carried_ + samples_; }
  /// Samples the ranks take together.
  int64_t stride() const { return stride_; }
  /// Batches of this rank from a position in the line to the end.
  int64_t batches_from(int64_t position) const;
  /// Batches of this rank in the whole pass.
  int64_t batches() const;
  /// The samples of the batch that begins at a position.
  std::vector<SampleKey> batch_at(int64_t position) const;
  /// The position after that batch.
  int64_t end_of_batch(int64_t position) const;
  /// The state in which the pass after this one begins when this one ends or is left at `position`.
  LoaderState next_pass(int64_t position) const;

 private:
  int64_t samples_;
  int64_t stride_;
  int64_t world_size_;
  int64_t rank_;
  LastBatch last_batch_;
  bool shuffle_;
  uint64_t seed_;
  int64_t epoch_;
  int64_t carried_;
  int64_t position_;
};

/// The state before the first batch of an epoch, as if all epochs before it had been whole.
LoaderState start_of_epoch(const DataLoaderOptions& options, uint64_t seed, int64_t samples,
                           int64_t epoch);

}  // namespace thalweg::data
