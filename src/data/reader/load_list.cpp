#include "data/reader/load_list.h"

namespace thalweg::data {

LoadList::LoadList(CorpusIndex& index, OrderOptions options, int64_t max_sweeps, int64_t sweep,
                   int64_t position, const std::vector<ChunkLoad>& kept)
    : index_(index), options_(std::move(options)), max_sweeps_(max_sweeps), sweep_(sweep) {
  for (size_t i = 0; i < kept.size(); ++i)
    last_.insert_or_assign(kept[i].chunk, Known{kept[i], -1 - static_cast<int64_t>(i)});
  if (max_sweeps_ > 0 && sweep_ >= max_sweeps_) return;
  order_ = make_order(index_, options_, sweep_);
  window_ = order_->window_at(position);
  if (position == 0) loads_of_sweep_ = 0;
}

std::optional<ChunkLoad> LoadList::load(int64_t number) {
  const std::lock_guard lock(mutex_);
  while (number >= next_load_) {
    // A whole sweep that loads nothing: all is in memory, and stays there.
    if (loads_of_sweep_ == 0 && !window_) return std::nullopt;
    if (!extend()) return std::nullopt;
  }
  return std::move(loads_.extract(number).mapped());
}

std::optional<WindowLoads> LoadList::next_window() {
  const std::lock_guard lock(mutex_);
  while (windows_.empty()) {
    if (!extend()) return std::nullopt;
  }
  WindowLoads next = std::move(windows_.front());
  windows_.pop_front();
  return next;
}

bool LoadList::extend() {
  if (!order_) return false;
  if (window_) {
    add_window();
    return true;
  }
  if (max_sweeps_ > 0 && sweep_ + 1 >= max_sweeps_) return false;
  order_ = make_order(index_, options_, ++sweep_);
  window_ = order_->window_at(0);
  if (!window_) order_.reset();  // there is no sequence
  loads_of_sweep_ = 0;
  return order_ != nullptr;
}

void LoadList::add_window() {
  WindowLoads next{sweep_, *window_, order_->window(*window_), {}};
  std::unordered_map<int64_t, Known> known;
  for (const ChunkLoad& load : next.window.loads) {
    next.loads.push_back(number_of(load));
    known.insert_or_assign(load.chunk, Known{load, next.loads.back()});
  }
  last_ = std::move(known);
  windows_.push_back(std::move(next));
  window_ = order_->has_window(*window_ + 1) ? std::optional(*window_ + 1) : std::nullopt;
}

int64_t LoadList::number_of(const ChunkLoad& load) {
  const auto held = last_.find(load.chunk);
  if (held != last_.end() && held->second.load.is_same(load)) return held->second.number;
  if (loads_of_sweep_ >= 0) ++loads_of_sweep_;
  loads_.emplace(next_load_, load);
  return next_load_++;
}

}  // namespace thalweg::data
