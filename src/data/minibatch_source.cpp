#include <algorithm>
#include <cmath>
#include <utility>

#include <thalweg/base/clock.h>
#include <thalweg/base/random.h>
#include <thalweg/base/text.h>
#include <thalweg/data/minibatch_source.h>

#include "base/fail.h"
#include "data/reader/absorb.h"
#include "data/reader/composite.h"
#include "data/reader/memory_shares.h"
#include "data/reader/pipeline.h"

namespace thalweg::data {
namespace {

void require_not_negative(const char* option, int64_t value) {
  if (value < 0) fail_invalid("reader: {} is {}; it must not be negative", option, value);
}

void check_options(const MinibatchSourceOptions& o) {
  require_not_negative("max_sweeps", o.max_sweeps);
  require_not_negative("max_samples", o.max_samples);
  require_not_negative("bucket_sequences", o.bucket_sequences);
  require_not_negative("truncation", o.truncation);
  require_not_negative("workers", o.workers);
  require_not_negative("cache_size", o.cache_size);
  require_not_negative("cntk_window_samples", o.cntk_window_samples);
  if (o.cntk_window_chunks < 1)
    fail_invalid("reader: cntk_window_chunks is {}; at least 1", o.cntk_window_chunks);
  if (o.world_size < 1 || o.rank < 0 || o.rank >= o.world_size) {
    fail_invalid("reader: rank {} of world_size {}; ranks are 0 to world_size - 1", o.rank,
                 o.world_size);
  }
  if ((o.packing == Packing::truncated) != (o.truncation > 0)) {
    fail_invalid("reader: truncation is {}; Packing::truncated, and no other, needs it",
                 o.truncation);
  }
  if (o.fill_by_rank && (o.packing == Packing::truncated || o.bucket_sequences > 0 ||
                         o.sweep_end != SweepEnd::cross)) {
    fail_invalid(
        "reader: minibatches filled by rank are plain ones that cross sweeps; set SweepEnd::cross, "
        "and neither buckets nor truncation");
  }
  if (o.packing == Packing::truncated && o.bucket_sequences > 0)
    fail_invalid("reader: truncated sequences are not put into buckets; set bucket_sequences to 0");
  constexpr size_t kLeast = size_t{64} << 10;
  if (o.memory_limit < kLeast) {
    fail_invalid("reader: memory_limit is {}; give at least {}", format_bytes(o.memory_limit),
                 format_bytes(kLeast));
  }
}

// What the order of sequences depends on, besides seed and data.
std::string order_name(const MinibatchSourceOptions& o) {
  std::string name = "data";
  if (!o.weights.empty()) {
    name = "weighted";
  } else if (o.randomize) {
    name = o.shuffle == Shuffle::window ? "window" : "corpus";
    if (o.shuffle == Shuffle::cntk)
      name = fmt::format("cntk {} {}", o.cntk_window_chunks, o.cntk_window_samples);
  }
  if (o.bucket_sequences > 0) name += fmt::format(", buckets of {}", o.bucket_sequences);
  if (o.fill_by_rank) name += fmt::format(", filled by rank {} of {}", o.rank, o.world_size);
  if (o.truncation > 0) name += fmt::format(", truncated at {}", o.truncation);
  return name;
}

uint64_t derive_default_seed() {
  const RandomState random = reserve_random(1);
  constexpr uint64_t kSourceStream = 0x50C3CE;
  return derive_seed(random.seed, random.offset, kSourceStream);
}

std::shared_ptr<const std::vector<double>> cumulative(const std::vector<double>& weights) {
  if (weights.empty()) return nullptr;
  auto sums = std::make_shared<std::vector<double>>();
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
      fail_invalid("reader: weight {} is {}; weights are finite and not negative", i, weights[i]);
    sums->push_back(sum += weights[i]);
  }
  if (!(sum > 0) || !std::isfinite(sum)) fail_invalid("reader: the weights sum to {}", sum);
  return sums;
}

DeserializerHandle joined(std::vector<DeserializerHandle> parts,
                          const std::vector<StreamTransform>& transforms, AbsorbedSteps& absorbed) {
  if (parts.empty()) fail_invalid("reader: no deserializer was given");
  absorbed = absorb_steps(parts, transforms);
  return parts.size() == 1 ? parts[0] : DeserializerHandle(compose(std::move(parts)));
}

}  // namespace

class MinibatchSource::Impl {
 public:
  Impl(std::vector<DeserializerHandle> parts, MinibatchSourceOptions given)
      : options(std::move(given)),
        deserializer(joined(std::move(parts), options.transforms, absorbed)) {
    check_options(options);
    order = order_options();
    state.seed = options.seed ? *options.seed : derive_default_seed();
    state.order = order_name(options);
    order.seed = state.seed;
    if (order.shuffle != Shuffle::cntk) state.chunk_bytes = chunk_share(options.memory_limit);
    open();
    state.window_bytes = shares.window;
  }

  Minibatch next(int64_t size) {
    if (size < 1) fail_invalid("reader: the size of a minibatch is {}; at least 1", size);
    if (!pipeline || pipeline->size() != size) start(size);
    const Stopwatch watch;
    std::optional<Pipeline::Made> made;
    try {
      made = pipeline->next();
    } catch (...) {
      kept = pipeline->stop();
      pipeline.reset();
      throw;
    }
    statistics.wait_seconds += watch.seconds();
    most_ahead = std::max(most_ahead, pipeline->held_bytes());
    if (!made) return {};
    state = std::move(made->after);
    ++statistics.minibatches;
    statistics.samples += made->minibatch.num_samples;
    statistics.sequences += made->minibatch.num_sequences;
    return std::move(made->minibatch);
  }

  std::string save() {
    SourceState saved = state;
    // Not to be found out now: in the order of the data nobody has looked at all of them.
    if (order.randomize || order.cumulative) saved.sequences = index->sequences();
    return to_json(saved);
  }

  void restore(std::string_view json);
  void start_sweep(int64_t sweep);

  MinibatchSourceOptions options;
  AbsorbedSteps absorbed;
  DeserializerHandle deserializer;
  OrderOptions order;
  MemoryShares shares;
  std::unique_ptr<CorpusIndex> index;
  std::unique_ptr<Packer> packer;
  std::shared_ptr<MemoryBudget> budget;
  SourceCounters counters;
  SourceStatistics statistics;
  size_t most_ahead = 0;  // bytes of minibatches
  SourceState state;      // after the minibatch given last
  std::vector<KeptChunk> kept;
  std::unique_ptr<Pipeline> pipeline;  // last: its threads use what is above

 private:
  OrderOptions order_options() const;
  void open();
  void check_fits(const SourceState& next);
  void start(int64_t size);
};

OrderOptions MinibatchSource::Impl::order_options() const {
  OrderOptions result{.randomize = options.randomize,
                      .shuffle = options.shuffle,
                      .cntk_window_chunks = options.cntk_window_chunks,
                      .cntk_window_samples = options.cntk_window_samples,
                      .cumulative = cumulative(options.weights)};
  // Otherwise it depends on more than the position which rank a sequence goes to.
  if (options.packing != Packing::truncated && options.bucket_sequences == 0 &&
      options.sweep_end != SweepEnd::pad) {
    result.rank = options.rank;
    result.world_size = options.world_size;
  }
  return result;
}

// Makes all that depends on the chunks of the data.
void MinibatchSource::Impl::open() {
  kept.clear();
  if (state.chunk_bytes > 0) deserializer->limit_chunks(state.chunk_bytes);
  index = std::make_unique<CorpusIndex>(deserializer);
  if (!index->find(0)) fail_invalid("reader: {} has no sequence", deserializer->name());
  if (order.cumulative && static_cast<int64_t>(order.cumulative->size()) != index->sequences()) {
    fail_invalid("reader: there are {} weights and {} sequences in {}", order.cumulative->size(),
                 index->sequences(), deserializer->name());
  }
  shares = share_memory(options.memory_limit, order, *index);
  order.window_bytes = shares.window;
  budget = std::make_shared<MemoryBudget>(shares.chunks);
  packer = std::make_unique<Packer>(deserializer->streams(), options, state.seed, absorbed);
}

void MinibatchSource::Impl::start(int64_t size) {
  if (pipeline) kept = pipeline->stop();
  pipeline.reset();
  Cursor::Context context{*index, order, options.max_sweeps, options.workers, budget, counters};
  pipeline = std::make_unique<Pipeline>(std::move(context), options, *packer, size, state,
                                        shares.batches, std::move(kept));
  kept.clear();
}

void MinibatchSource::Impl::restore(std::string_view json) {
  const SourceState next = source_state_from(json);
  if (next.order != state.order) {
    fail_invalid("reader: the state is of the order '{}', and this source has '{}'", next.order,
                 state.order);
  }
  if (pipeline) kept = pipeline->stop();
  pipeline.reset();
  const SourceState before = std::exchange(state, next);
  try {
    if (next.chunk_bytes != before.chunk_bytes) open();
    check_fits(next);
  } catch (...) {
    state = before;
    if (next.chunk_bytes != before.chunk_bytes) open();
    throw;
  }
  order.window_bytes = next.window_bytes;
  order.seed = next.seed;
  packer = std::make_unique<Packer>(deserializer->streams(), options, next.seed, absorbed);
}

void MinibatchSource::Impl::start_sweep(int64_t sweep) {
  require_not_negative("the number of a sweep", sweep);
  if (pipeline) kept = pipeline->stop();
  pipeline.reset();
  state.sweep = sweep;
  state.position = 0;
  state.bucket_size = state.bucket_next = 0;
  state.slots.clear();
}

void MinibatchSource::Impl::check_fits(const SourceState& next) {
  const bool is_mixed = order.randomize || order.cumulative;
  if (is_mixed && next.sequences != index->sequences()) {
    fail_invalid("reader: the state is of data with {} sequences; {} has {}", next.sequences,
                 deserializer->name(), index->sequences());
  }
  if (next.window_bytes > shares.chunks) {
    fail_invalid(
        "reader: memory_limit is too small; the state's order needs {} for chunks, and {} of the "
        "limit are there for them",
        format_bytes(next.window_bytes), format_bytes(shares.chunks));
  }
}

MinibatchSource::MinibatchSource(std::vector<DeserializerHandle> deserializers,
                                 MinibatchSourceOptions options)
    : impl_(std::make_unique<Impl>(std::move(deserializers), std::move(options))) {}
MinibatchSource::MinibatchSource(MinibatchSource&&) noexcept = default;
MinibatchSource& MinibatchSource::operator=(MinibatchSource&&) noexcept = default;
MinibatchSource::~MinibatchSource() = default;

Minibatch MinibatchSource::next_minibatch(int64_t size) { return impl_->next(size); }
std::string MinibatchSource::checkpoint() const { return impl_->save(); }
void MinibatchSource::restore(std::string_view state) { impl_->restore(state); }
const std::vector<StreamInfo>& MinibatchSource::streams() const { return impl_->packer->streams(); }
std::string MinibatchSource::name() const { return impl_->deserializer->name(); }
int64_t MinibatchSource::num_sequences() const { return impl_->index->sequences(); }
int64_t MinibatchSource::num_samples() const { return impl_->index->samples(); }
void MinibatchSource::start_sweep(int64_t sweep) { impl_->start_sweep(sweep); }
int64_t MinibatchSource::sweep() const { return impl_->state.sweep; }
const MinibatchSourceOptions& MinibatchSource::options() const { return impl_->options; }

SourceStatistics MinibatchSource::statistics() const {
  constexpr double kSecond = 1e9;
  SourceStatistics result = impl_->statistics;
  const SourceCounters& counters = impl_->counters;
  result.load_seconds = static_cast<double>(counters.load_ns) / kSecond;
  result.make_seconds = static_cast<double>(counters.make_ns) / kSecond;
  result.transform_seconds = static_cast<double>(counters.transform_ns) / kSecond;
  result.chunks = counters.chunks;
  result.held_bytes = impl_->budget->held() + (impl_->pipeline ? impl_->pipeline->held_bytes() : 0);
  result.most_bytes = impl_->budget->most() + impl_->most_ahead;
  result.problems = impl_->deserializer->problems();
  return result;
}

}  // namespace thalweg::data
