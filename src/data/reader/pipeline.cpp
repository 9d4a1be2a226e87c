#include "data/reader/pipeline.h"

#include <algorithm>
#include <system_error>

#include <thalweg/base/clock.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

size_t bytes_of(const Tensor& tensor) {
  return tensor.defined() ? static_cast<size_t>(tensor.size()) * item_size(tensor.dtype()) : 0;
}

size_t bytes_of(const Minibatch& minibatch) {
  size_t bytes = minibatch.sequences.size() * sizeof(MinibatchSequence);
  for (const StreamBatch& batch : minibatch.batches()) {
    for (const Tensor* tensor : {&batch.dense, &batch.csr.values, &batch.csr.columns,
                                 &batch.csr.row_starts, &batch.lengths, &batch.mask})
      bytes += bytes_of(*tensor);
  }
  return bytes;
}

}  // namespace

Pipeline::Pipeline(Cursor::Context context, const MinibatchSourceOptions& options,
                   const Packer& packer, int64_t size, const SourceState& state, size_t batch_bytes,
                   std::vector<KeptChunk> kept)
    : counters_(context.counters),
      budget_(context.budget),
      packer_(packer),
      size_(size),
      cursor_(std::make_unique<Cursor>(context, state.sweep, state.position, std::move(kept))),
      planner_(make_planner(*cursor_, options, size, state)) {
  if (options.workers > 0) make_ahead(options.workers, batch_bytes, options.cache_size);
}

Pipeline::~Pipeline() { stop(); }

void Pipeline::make_ahead(int workers, size_t batch_bytes, int64_t cache_size) {
  // With a number of minibatches as the bound, each takes at least its share of the bytes.
  const size_t share = cache_size > 0 ? batch_bytes / static_cast<size_t>(cache_size) : 0;
  try {
    ahead_ = std::make_unique<Prefetcher<Made>>(
        PrefetcherOptions{workers, batch_bytes, share, true},
        [this](int64_t number) { return make(number); },
        [share](const Made& made) { return std::max(made.bytes, share); });
  } catch (const std::system_error& error) {
    fail(ErrorKind::unavailable, "reader: {} threads cannot be started; {}", workers, error.what());
  }
}

std::optional<Pipeline::Made> Pipeline::next() { return ahead_ ? ahead_->next() : make(next_++); }

std::vector<KeptChunk> Pipeline::stop() {
  ahead_.reset();
  planner_.reset();
  std::vector<KeptChunk> kept;
  if (cursor_) kept = cursor_->kept();
  cursor_.reset();
  return kept;
}

std::optional<Pipeline::Made> Pipeline::make(int64_t number) {
  std::optional<Plan> planned = plan(number);
  if (!planned) return std::nullopt;
  struct Use {
    MemoryBudget& budget;
    ~Use() { budget.end_use(); }
  };
  const Use use{*budget_};
  Made made = pack(*planned);
  planned.reset();  // its chunks, before the use ends
  return made;
}

std::optional<Plan> Pipeline::plan(int64_t number) {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return planned_ == number; });
  std::optional<Plan> plan;
  std::exception_ptr error;
  if (!is_over_) {
    lock.unlock();  // it is this thread's turn until planned_ moves on
    try {
      plan = planner_->next();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
  }
  is_over_ = is_over_ || !plan;
  ++planned_;
  if (plan) budget_->begin_use();
  lock.unlock();
  turn_.notify_all();
  if (error) std::rethrow_exception(error);
  return plan;
}

Pipeline::Made Pipeline::pack(const Plan& plan) const {
  const Stopwatch watch;
  Made made{packer_.make(plan, counters_), plan.after, 0};
  made.bytes = bytes_of(made.minibatch);
  counters_.make_ns += static_cast<int64_t>(watch.seconds() * 1e9);
  return made;
}

}  // namespace thalweg::data
