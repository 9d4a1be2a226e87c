#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>

#include "data/reader/sweep_order.h"

namespace thalweg::data {

/// A window of a sweep, and the numbers of its loads among all loads of the list.
struct WindowLoads {
  int64_t sweep = 0;
  int64_t number = 0;  // of the window in the sweep
  Window window = {};
  std::vector<int64_t> loads = {};
};

/// The windows from some position on, sweep after sweep, and the loads 0, 1, ... that they take in
/// this order; what the window before has in memory is not loaded again. Any thread may ask.
class LoadList {
 public:
  /// `kept` is in memory already; its loads have the numbers -1, -2, ... `max_sweeps` 0 is no end.
  LoadList(CorpusIndex& index, OrderOptions options, int64_t max_sweeps, int64_t sweep,
           int64_t position, const std::vector<ChunkLoad>& kept);

  /// The load of this number, once; none if there are fewer.
  std::optional<ChunkLoad> load(int64_t number);
  /// The window after the one that this gave before; none after the last.
  std::optional<WindowLoads> next_window();

 private:
  struct Known {
    ChunkLoad load;
    int64_t number;
  };

  bool extend();  // under the lock, as those below
  void add_window();
  int64_t number_of(const ChunkLoad& load);

  CorpusIndex& index_;
  OrderOptions options_;
  int64_t max_sweeps_;
  std::mutex mutex_;
  int64_t sweep_;
  std::optional<int64_t> window_;  // the next; none after the sweep's last
  std::unique_ptr<SweepOrder> order_;
  std::unordered_map<int64_t, Known> last_;       // loads of the window before, by chunk
  std::unordered_map<int64_t, ChunkLoad> loads_;  // by number, not yet given
  int64_t next_load_ = 0;
  std::deque<WindowLoads> windows_;  // not yet given
  int64_t loads_of_sweep_ = -1;      // -1: its start was not seen
};

}  // namespace thalweg::data
