#pragma once

// Loops over many cores. Work is cut into tiles whose number and bounds the caller fixes without
// looking at the thread count; whole tiles go to threads. A tile that writes only what is its own
// therefore gives the same bits on any number of threads.

#include <cstdint>

#include <thalweg/base/export.h>
#include <thalweg/base/function_ref.h>

namespace thalweg {

/// Threads that one loop may use, the calling one included. Until set_num_threads: THALWEG_THREADS,
/// else OMP_NUM_THREADS, else the physical cores this process may use (affinity, cgroup quota).
THALWEG_API int num_threads();

/// n >= 1. Waits for a loop that runs in another thread; an error inside a loop.
THALWEG_API void set_num_threads(int n);

/// Loops that this thread starts while the scope lives run in this thread alone. For threads that
/// are themselves one of many, such as a loader's workers.
class THALWEG_API SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool outer_;
};

namespace detail {
/// Below this much work per thread, in nanoseconds, waking the thread costs more than it brings.
inline constexpr double kMinThreadNs = 15000;

THALWEG_API void run_tiles(int64_t n_tiles, double tile_ns, FunctionRef<void(int64_t)> tile);
}  // namespace detail

/// Calls tile(i) for i in [0, n_tiles), in any order and in several threads if the work is worth
/// it: `tile_ns` is an estimate of one tile's nanoseconds. Serial, in order, for little work,
/// inside another loop, in a SerialScope, and while another thread's loop has the threads. When
/// tiles throw, the exception of the first of them in index order reaches the caller.
template <typename Tile>
void parallel_tiles(int64_t n_tiles, double tile_ns, Tile&& tile) {
  if (n_tiles <= 1 || static_cast<double>(n_tiles) * tile_ns < 2 * detail::kMinThreadNs) {
    for (int64_t i = 0; i < n_tiles; ++i) tile(i);
  } else {
    detail::run_tiles(n_tiles, tile_ns, tile);
  }
}

/// Calls range(begin, end) for [0, n) cut at the multiples of `grain` >= 1; `item_ns` is an
/// estimate of one item's nanoseconds. Otherwise like parallel_tiles.
template <typename Range>
void parallel_ranges(int64_t n, int64_t grain, double item_ns, Range&& range) {
  const int64_t n_tiles = n / grain + (n % grain != 0);
  parallel_tiles(n_tiles, item_ns * static_cast<double>(grain), [&](int64_t i) {
    const int64_t begin = i * grain;
    range(begin, n - begin < grain ? n : begin + grain);
  });
}

}  // namespace thalweg
