#pragma once

// Minibatches in an order that depends on the data, the seed and the epoch alone.
//
//   for (auto& batch : DataLoader(train, {.batch_size = 64, .shuffle = true}))
//     step(batch.data, batch.label);
//
// Each begin() is a pass over the data, an epoch of its own number, with an order of its own.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <thalweg/data/dataset.h>
#include <thalweg/data/minibatch_source.h>

namespace thalweg::data {

/// What becomes of samples that do not fill a batch at the end of a pass: a smaller batch, nothing,
/// or the start of the next pass.
enum class LastBatch { keep, discard, rollover };

struct DataLoaderOptions {
  int64_t batch_size = 32;  // samples of one batch, on this rank
  bool shuffle = false;     // a new order in each epoch, by a permutation keyed by seed and epoch
  int workers = 0;          // threads that make batches ahead; 0: made in the caller's, when asked
  size_t prefetch_bytes = 0;  // bound of the batches made ahead; 0: room for two per worker
  LastBatch last_batch = LastBatch::keep;
  std::optional<uint64_t> seed =
      {};                  // of order and transforms; unset: from the default random state
  int64_t epoch = 0;       // number of the first pass
  int64_t rank = 0;        // of `world_size` loaders that share each epoch's order:
  int64_t world_size = 1;  // every sample goes to exactly one of them
};

/// Where a loader stands. Another loader of the same data goes on from it, also with another batch
/// size, number of workers, or of ranks, which then see what all ranks have not yet seen.
struct LoaderState {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t position = 0;     // samples of this pass that all ranks together were given
  int64_t carried = 0;      // samples of earlier epochs that this pass began with (rollover)
  int64_t samples = 0;      // in the data set, to know it again
  std::string source = {};  // of a minibatch source: its state, which counts in place of the above

  friend bool operator==(const LoaderState&, const LoaderState&) = default;
};

struct SourceLoaderOptions {
  int64_t batch_size = 32;   // as in next_minibatch(): samples or sequences, of all ranks together
  std::string data = {};     // the stream that is Batch::data; "": the first
  std::string label = {};    // the stream that is Batch::label; "": the first of the others
  bool keep_sparse = false;  // Batch::sparse has the data, if their stream is sparse
};

class LoaderImpl;

/// Iterates over a data set in batches. One thread may use it, and its iterators, at a time.
class THALWEG_API DataLoader {
 public:
  class Iterator;

  /// Throws Error{invalid} for options that do not fit.
  explicit DataLoader(Dataset dataset, DataLoaderOptions options = {});
  /// Passes are the source's sweeps, which must have no end (max_sweeps = 0). Fields are its
  /// streams, those of sparse streams with their zeros, unless keep_sparse is set.
  explicit DataLoader(MinibatchSource source, SourceLoaderOptions options = {});

  /// Starts the next pass; after restore(), goes on with the pass it was in. One pass at a time: a
  /// pass that was left early is over, and so is an older iterator.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  /// Batches of the pass that is under way or, when none is, of the next one: from its first to its
  /// last, wherever it was restored. With several ranks and LastBatch::keep, ranks may differ by 1;
  /// with a minibatch source of sequences of many samples it is an estimate.
  int64_t size() const;

  /// The number of the pass that is under way or, when none is, of the next one.
  int64_t epoch() const;
  /// The next begin() starts this epoch.
  void set_epoch(int64_t epoch);

  /// What is to come after the batch that was given last.
  LoaderState state() const;
  /// Goes on from there at the next begin(), without reading what was seen before. Throws
  /// Error{invalid} for a state of other data, or one that no loader has.
  void restore(const LoaderState& state);

  /// Throws Error{invalid} if a minibatch source reads the data.
  const Dataset& dataset() const;
  /// What a minibatch source has done; none for a data set.
  std::optional<SourceStatistics> statistics() const;
  /// What the data are called in errors.
  std::string name() const;
  /// What the labels 0, 1, ... stand for; empty if they have no names.
  const std::vector<std::string>& class_names() const;
  const DataLoaderOptions& options() const;

 private:
  std::shared_ptr<LoaderImpl> impl_;
};

/// The place in a pass. What went wrong while a batch was made is thrown by the begin() or ++ that
/// was to reach it, and ends the pass. Leaving early, by break or an exception, ends the workers.
class THALWEG_API DataLoader::Iterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;

  Iterator(Iterator&& other) noexcept;
  Iterator& operator=(Iterator&& other) noexcept;
  ~Iterator();

  /// Valid until the iterator moves on; the tensors live as long as somebody holds them.
  Batch& operator*() const;
  Batch* operator->() const { return &**this; }
  Iterator& operator++();
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.is_at_end(); }

 private:
  friend class DataLoader;

  Iterator(std::shared_ptr<LoaderImpl> impl, uint64_t pass);
  bool is_at_end() const;

  std::shared_ptr<LoaderImpl> impl_;
  uint64_t pass_;  // the number of begin() calls before
};

}  // namespace thalweg::data
