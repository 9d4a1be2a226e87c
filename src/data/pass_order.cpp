#include "data/pass_order.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <thalweg/base/permutation.h>

namespace thalweg::data {
namespace {

constexpr uint64_t kOrderStream = 0x04D37;

Permutation order_of(uint64_t seed, int64_t epoch, int64_t samples) {
  return Permutation(static_cast<uint64_t>(samples),
                     derive_seed(seed, static_cast<uint64_t>(epoch), kOrderStream));
}

// Saturates: a batch may be meant to be "everything".
int64_t stride_of(const DataLoaderOptions& options) {
  int64_t stride;
  const bool is_huge = __builtin_mul_overflow(options.batch_size, options.world_size, &stride);
  return is_huge ? std::numeric_limits<int64_t>::max() : stride;
}

}  // namespace

PassOrder::PassOrder(const DataLoaderOptions& options, const LoaderState& state)
    : samples_(state.samples),
      stride_(stride_of(options)),
      world_size_(options.world_size),
      rank_(options.rank),
      last_batch_(options.last_batch),
      shuffle_(options.shuffle),
      seed_(state.seed),
      epoch_(state.epoch),
      carried_(state.carried),
      position_(state.position) {}

int64_t PassOrder::batches_from(int64_t position) const {
  const int64_t left = length() - position;
  const bool has_rest = last_batch_ == LastBatch::keep && left % stride() > rank_;
  return left / stride() + (has_rest ? 1 : 0);
}

int64_t PassOrder::batches() const {
  const int64_t before = position_ / stride() + (position_ % stride() != 0 ? 1 : 0);
  return before + batches_from(position_);
}

int64_t PassOrder::end_of_batch(int64_t position) const {
  return position + std::min(stride(), length() - position);
}

std::vector<SampleKey> PassOrder::batch_at(int64_t position) const {
  const int64_t end = end_of_batch(position);
  std::vector<SampleKey> keys;
  keys.reserve(static_cast<size_t>((end - position) / world_size_ + 1));
  std::optional<Permutation> order;
  int64_t epoch_of_order = -1;
  for (int64_t i = position + rank_; i < end; i += world_size_) {
    // Counted from the first sample of epoch 0, where every epoch is whole.
    const int64_t place = epoch_ * samples_ + i - carried_;
    SampleKey key{place % samples_, place / samples_};
    if (shuffle_) {
      if (key.epoch != epoch_of_order) {
        order.emplace(order_of(seed_, key.epoch, samples_));
        epoch_of_order = key.epoch;
      }
      key.index = static_cast<int64_t>((*order)(static_cast<uint64_t>(key.index)));
    }
    keys.push_back(key);
  }
  return keys;
}

LoaderState PassOrder::next_pass(int64_t position) const {
  const bool rolls = last_batch_ == LastBatch::rollover;
  return {seed_, epoch_ + 1, 0, rolls ? (length() - position) % stride() : 0, samples_};
}

LoaderState start_of_epoch(const DataLoaderOptions& options, uint64_t seed, int64_t samples,
                           int64_t epoch) {
  const bool rolls = options.last_batch == LastBatch::rollover;
  const __int128 before = static_cast<__int128>(epoch) * samples;
  const auto carried = static_cast<int64_t>(rolls ? before % stride_of(options) : 0);
  return {seed, epoch, 0, carried, samples};
}

}  // namespace thalweg::data
