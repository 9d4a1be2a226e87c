#include <algorithm>

#include <thalweg/base/threads.h>

#include "base/cpus.h"
#include "base/fail.h"
#include "base/thread_pool.h"

namespace thalweg {
namespace {

// A worker takes at least this much at a time, so that taking costs little beside the work.
constexpr double kMinChunkNs = 2000;
constexpr int64_t kMostChunks = int64_t{1} << 31;

constexpr double kLongJobNs = 2e6;

thread_local bool t_serial = false;

// Never destroyed: a program may exit from inside a tile, where joining would wait for itself.
ThreadPool& pool() {
  static ThreadPool& instance = *new ThreadPool(default_num_threads());
  return instance;
}

}  // namespace

int num_threads() { return pool().n_threads(); }

void set_num_threads(int n) {
  if (n < 1 || n > kMaxThreads) {
    fail_invalid("set_num_threads: not a number of threads; got {}, expected 1 to {}", n,
                 kMaxThreads);
  }
  if (t_serial) fail_invalid("set_num_threads: called inside a parallel loop or SerialScope");
  if (n != pool().n_threads()) pool().resize(n);
}

SerialScope::SerialScope() : outer_(t_serial) { t_serial = true; }
SerialScope::~SerialScope() { t_serial = outer_; }

namespace detail {

void run_tiles(int64_t n_tiles, double tile_ns, FunctionRef<void(int64_t)> tile) {
  const double work_ns = static_cast<double>(n_tiles) * tile_ns;
  const auto worth = static_cast<int64_t>(std::min(work_ns / kMinThreadNs, 1e9));
  const int64_t n_threads = std::min({int64_t{pool().n_threads()}, n_tiles, worth});
  const bool alone = t_serial || n_threads <= 1;
  SerialScope inner_loops;
  if (!alone) {
    const int64_t chunk = std::clamp<int64_t>(static_cast<int64_t>(kMinChunkNs / tile_ns), 1,
                                              std::max<int64_t>(n_tiles / (4 * n_threads), 1));
    const ThreadPool::Job job{.n_tiles = n_tiles,
                              .chunk = std::max(chunk, n_tiles / kMostChunks + 1),
                              .n_helpers = static_cast<int>(n_threads) - 1,
                              .is_long = work_ns > kLongJobNs};
    if (pool().try_run(job, tile)) return;
  }
  for (int64_t i = 0; i < n_tiles; ++i) tile(i);
}

}  // namespace detail
}  // namespace thalweg
