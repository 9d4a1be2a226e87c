#include "data/reader/cursor.h"

#include <system_error>

#include <thalweg/base/clock.h>
#include <thalweg/base/text.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

std::vector<ChunkLoad> loads_of(const std::vector<KeptChunk>& kept) {
  std::vector<ChunkLoad> loads;
  for (const KeptChunk& chunk : kept) loads.push_back(chunk.load);
  return loads;
}

}  // namespace

Cursor::Cursor(Context context, int64_t sweep, int64_t position, std::vector<KeptChunk> kept)
    : context_(std::move(context)),
      list_(context_.index, context_.order, context_.max_sweeps, sweep, position, loads_of(kept)),
      kept_(std::move(kept)),
      position_(position) {
  for (size_t i = 0; i < kept_.size(); ++i)
    held_.emplace(-1 - static_cast<int64_t>(i), kept_[i].chunk);
  if (context_.workers == 0) return;
  // The budget counts chunks, and is the bound.
  constexpr size_t kNoBound = size_t{1} << 62;
  try {
    ahead_ = std::make_unique<Prefetcher<HeldChunkPtr>>(
        PrefetcherOptions{context_.workers, kNoBound, 0},
        [this](int64_t number) { return load_ahead(number); },
        [](const HeldChunkPtr&) { return size_t{0}; });
  } catch (const std::system_error& error) {
    fail(ErrorKind::unavailable, "reader: {} threads cannot be started; {}", context_.workers,
         error.what());
  }
}

Cursor::~Cursor() {
  context_.budget->close();
  ahead_.reset();
  context_.budget->reopen();
}

const DrawnSequence* Cursor::peek() {
  while (!has_next_) {
    if (is_over_) return nullptr;
    if (!window_ || position_ >= window_->window.end) {
      is_over_ = !enter_window();
      continue;
    }
    const WindowPlace place = order_->find(window_->number, position_);
    next_ = drawn(place, chunks_[place.load], window_->sweep, position_++);
    has_next_ = next_.length >= 0;
  }
  return &next_;
}

DrawnSequence Cursor::drawn(const WindowPlace& place, HeldChunkPtr chunk, int64_t sweep,
                            int64_t position) const {
  // Drawn with replacement, a sequence is not to look the same each time.
  const int64_t key = context_.order.cumulative ? position : place.number;
  const int64_t length = (*chunk)->length(place.sequence);
  return {std::move(chunk), place.sequence, place.number, key, sweep, position, length};
}

bool Cursor::enter_window() {
  const bool is_first = !window_;
  std::optional<WindowLoads> next = list_.next_window();
  if (!next) {
    chunks_.clear();
    held_.clear();
    return false;
  }
  if (!is_first) position_ = next->window.begin;
  if (next->sweep != order_sweep_) {
    order_ = make_order(context_.index, context_.order, next->sweep);
    order_sweep_ = next->sweep;
  }
  // What is not needed any more goes first, to make room.
  std::unordered_map<int64_t, HeldChunkPtr> held;
  for (int64_t number : next->loads)
    if (const auto it = held_.find(number); it != held_.end()) held.insert(*it);
  next_.chunk.reset();
  chunks_.clear();
  kept_.clear();
  held_ = std::move(held);
  for (int64_t number : next->loads) {
    HeldChunkPtr& chunk = held_[number];
    if (!chunk) chunk = load_of(number);
    chunks_.push_back(chunk);
  }
  window_ = std::move(next);
  return true;
}

HeldChunkPtr Cursor::load_of(int64_t number) {
  THALWEG_ASSERT(number == taken_);
  ++taken_;
  if (!ahead_) {
    const ChunkLoad load = *list_.load(number);
    check_size(load);
    return load_now(load);
  }
  context_.budget->need(number);
  std::optional<HeldChunkPtr> chunk = ahead_->next();
  THALWEG_ASSERT(chunk.has_value());
  return std::move(*chunk);
}

std::optional<HeldChunkPtr> Cursor::load_ahead(int64_t number) {
  const std::optional<ChunkLoad> load = list_.load(number);
  if (!load) return std::nullopt;
  check_size(*load);
  const size_t bytes = load->bytes + load->load_bytes;
  if (!context_.budget->take(number, bytes)) return std::nullopt;
  try {
    return load_now(*load, bytes);
  } catch (...) {
    context_.budget->give_back(bytes);
    throw;
  }
}

HeldChunkPtr Cursor::load_now(const ChunkLoad& load, size_t reserved) {
  const Stopwatch watch;
  auto chunk = std::make_shared<const HeldChunk>(
      context_.index.deserializer().load(load.chunk, load.wanted), context_.budget, reserved);
  context_.counters.load_ns += static_cast<int64_t>(watch.seconds() * 1e9);
  ++context_.counters.chunks;
  return chunk;
}

void Cursor::check_size(const ChunkLoad& load) const {
  const size_t bytes = load.bytes + load.load_bytes;
  if (bytes <= context_.budget->limit()) return;
  fail_invalid(
      "reader: memory_limit is too small; chunk {} of {} takes {} while it is loaded, and {} of "
      "the limit are there for chunks; give at least {} more",
      load.chunk, context_.index.deserializer().name(), format_bytes(bytes),
      format_bytes(context_.budget->limit()), format_bytes(bytes - context_.budget->limit()));
}

DrawnSequence Cursor::fetch(int64_t sweep, int64_t position) {
  const std::unique_ptr<SweepOrder> order = make_order(context_.index, context_.order, sweep);
  const std::optional<int64_t> number = order->window_at(position);
  if (!number) fail_invalid("reader: sweep {} has no position {}", sweep, position);
  const Window window = order->window(*number);
  const WindowPlace place = order->find(*number, position);
  ChunkLoad load = window.loads[place.load];
  load.wanted.assign(static_cast<size_t>(context_.index.chunk(load.chunk).sequences), false);
  load.wanted[static_cast<size_t>(place.sequence)] = true;
  const HeldChunkPtr chunk = load_now(load);
  return drawn(place, chunk, sweep, position);
}

std::vector<KeptChunk> Cursor::kept() const {
  if (!window_) return kept_;
  std::vector<KeptChunk> kept;
  for (size_t i = 0; i < chunks_.size(); ++i)
    kept.push_back({window_->window.loads[i], chunks_[i]});
  return kept;
}

}  // namespace thalweg::data
