#include <algorithm>
#include <system_error>

#include <thalweg/base/random.h>

#include "base/fail.h"
#include "data/loader_impl.h"
#include "data/pass_order.h"
#include "data/prefetcher.h"

namespace thalweg::data {
namespace {

void check_options(const DataLoaderOptions& options) {
  if (options.batch_size < 1)
    fail_invalid("loader: batch_size is {}; it must be at least 1", options.batch_size);
  if (options.workers < 0)
    fail_invalid("loader: workers is {}; it must not be negative", options.workers);
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size) {
    fail_invalid("loader: rank {} of world_size {}; ranks are 0 to world_size - 1", options.rank,
                 options.world_size);
  }
}

constexpr int64_t kMostSamples = int64_t{1} << 61;  // of all epochs; sums of two still fit

void check_epoch(int64_t epoch, int64_t samples) {
  const int64_t last = kMostSamples / std::max<int64_t>(1, samples);
  if (epoch < 0 || epoch > last)
    fail_invalid("loader: epoch is {}; it must be from 0 to {}", epoch, last);
}

size_t sample_bytes(const std::vector<Field>& fields) {
  size_t bytes = 0;
  for (const Field& field : fields)
    bytes += static_cast<size_t>(element_count(field.shape)) * item_size(field.dtype);
  return bytes;
}

size_t batch_bytes(const Batch& batch) {
  size_t bytes = batch.samples().size() * sizeof(SampleKey);
  for (size_t f = 0; f < batch.fields().size(); ++f)
    bytes += static_cast<size_t>(batch[f].size()) * item_size(batch[f].dtype());
  return bytes;
}

class SetLoader final : public LoaderImpl {
 public:
  SetLoader(Dataset dataset, DataLoaderOptions options)
      : LoaderImpl(options), dataset_(std::move(dataset)) {
    check_options(options_);
    check_epoch(options_.epoch, dataset_.size());
    const uint64_t seed = options_.seed ? *options_.seed : derive_default_seed();
    state_ = start_of_epoch(options_, seed, dataset_.size(), options_.epoch);
  }

  std::string name() const override { return dataset_.name(); }
  const std::vector<std::string>& class_names() const override { return dataset_.class_names(); }
  const Dataset* dataset() const override { return &dataset_; }

  uint64_t begin() override {
    leave(passes_);
    if (was_left_) state_ = order().next_pass(state_.position);
    was_left_ = false;
    is_under_way_ = true;
    const uint64_t pass = ++passes_;
    if (options_.workers > 0 && order().batches_from(state_.position) > 0) start_workers();
    advance();
    return pass;
  }

  void advance() override {
    batch_ = Batch();  // first, so that its memory serves the next
    const PassOrder pass = order();
    if (pass.batches_from(state_.position) == 0) {
      state_ = pass.next_pass(state_.position);
      prefetcher_.reset();
      is_under_way_ = false;
      return;
    }
    try {
      batch_ = prefetcher_ ? *prefetcher_->next() : make_batch(pass, state_.position, state_.seed);
    } catch (...) {
      leave(passes_);
      throw;
    }
    state_.position = pass.end_of_batch(state_.position);
  }

  void leave(uint64_t pass) override {
    if (!is_current(pass)) return;
    prefetcher_.reset();
    batch_ = Batch();
    is_under_way_ = false;
    was_left_ = true;
  }

  int64_t size() const override { return order().batches(); }
  LoaderState state() const override { return state_; }
  void restore(const LoaderState& state) override;
  void set_epoch(int64_t epoch) override {
    check_epoch(epoch, state_.samples);
    set_state(start_of_epoch(options_, state_.seed, state_.samples, epoch));
  }

 private:
  PassOrder order() const { return PassOrder(options_, state_); }

  void set_state(const LoaderState& state) {
    leave(passes_);
    was_left_ = false;
    state_ = state;
  }

  static uint64_t derive_default_seed() {
    const RandomState random = reserve_random(1);
    constexpr uint64_t kLoaderStream = 0x10ADE6;
    return derive_seed(random.seed, random.offset, kLoaderStream);
  }

  Batch make_batch(const PassOrder& pass, int64_t position, uint64_t seed) const {
    std::vector<SampleKey> samples = pass.batch_at(position);
    try {
      std::vector<Tensor> columns = dataset_.source()->gather({samples, seed});
      return Batch(dataset_.source(), std::move(columns), std::move(samples));
    } catch (Error& error) {
      error.set_place(fmt::format("the batch at position {} of epoch {}", position, pass.epoch()));
      throw;
    }
  }

  void start_workers();

  Dataset dataset_;
  LoaderState state_;
  std::unique_ptr<Prefetcher<Batch>> prefetcher_;  // last: its threads use what is above
};

void SetLoader::start_workers() {
  const int64_t samples = std::min(options_.batch_size, state_.samples);
  const size_t expected =
      (sample_bytes(dataset_.fields()) + sizeof(SampleKey)) * static_cast<size_t>(samples);
  const size_t room = 2 * static_cast<size_t>(options_.workers) * expected;
  const size_t bound = options_.prefetch_bytes ? options_.prefetch_bytes : room;
  const PassOrder pass = order();
  const int64_t start = state_.position;
  const int64_t count = pass.batches_from(start);
  const uint64_t seed = state_.seed;
  const auto make = [=, this](int64_t number) -> std::optional<Batch> {
    if (number >= count) return std::nullopt;
    return make_batch(pass, start + number * pass.stride(), seed);
  };
  try {
    prefetcher_ = std::make_unique<Prefetcher<Batch>>(
        PrefetcherOptions{options_.workers, bound, expected, true}, make, batch_bytes);
  } catch (const std::system_error& error) {
    fail(ErrorKind::unavailable, "loader: {} worker threads cannot be started; {}",
         options_.workers, error.what());
  }
}

void SetLoader::restore(const LoaderState& state) {
  const int64_t samples = dataset_.size();
  if (state.samples != samples) {
    fail_invalid("loader: the state is of a set of {} samples; {} has {}", state.samples,
                 dataset_.name(), samples);
  }
  check_epoch(state.epoch, samples);
  const bool fits = state.carried >= 0 && state.carried <= state.epoch * samples &&
                    state.position >= 0 && state.position <= state.carried + samples;
  if (!fits) {
    fail_invalid("loader: no pass over {} samples has epoch {}, position {}, carried {}", samples,
                 state.epoch, state.position, state.carried);
  }
  set_state(state);
}

}  // namespace

std::shared_ptr<LoaderImpl> make_set_loader(Dataset dataset, DataLoaderOptions options) {
  return std::make_shared<SetLoader>(std::move(dataset), options);
}

}  // namespace thalweg::data
