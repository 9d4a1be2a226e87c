#include "device/pool.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include <sys/mman.h>

#include "base/fail.h"

namespace thalweg::pool {
namespace {

constexpr size_t kThreadBlockBytes = size_t{128} << 10;  // larger blocks skip the thread's list
constexpr size_t kThreadListBytes = size_t{4} << 20;     // per class; beyond it, half goes to all
constexpr unsigned kThreadListBlocks = 256;
constexpr size_t kHugePage = size_t{2} << 20;

struct Shared {
  std::mutex mutex;
  FreeList lists[kClasses];
  std::atomic<ptrdiff_t> live{0};
  std::atomic<ptrdiff_t> peak{0};
  std::atomic<size_t> held{0};  // bytes taken from the system
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> system_allocations{0};
};

Shared& shared() {
  static Shared* instance = new Shared;  // outlives every thread's list
  return *instance;
}

constexpr Limits kLimits = [] {
  Limits limits{};
  for (int c = 0; c < kClasses && class_bytes(c) <= kThreadBlockBytes; ++c) {
    const size_t by_bytes = kThreadListBytes / class_bytes(c);
    limits[c] = static_cast<unsigned>(by_bytes < kThreadListBlocks ? by_bytes : kThreadListBlocks);
  }
  return limits;
}();

void give_to_shared(FreeList& list, int size_class, unsigned keep) {
  Shared& all = shared();
  std::lock_guard lock(all.mutex);
  while (list.count() > keep) all.lists[size_class].push(list.pop());
}

/// Hands the blocks of an ending thread to the others.
struct ThreadExit {
  ~ThreadExit() {
    for (int c = 0; c < kClasses; ++c) {
      if (t_cache.lists[c].count()) give_to_shared(t_cache.lists[c], c, 0);
    }
    flush_counts(t_cache);
    t_cache.limits = &kNoLimits;
  }
};

void register_thread(ThreadCache& cache) {
  static thread_local ThreadExit at_exit;
  (void)at_exit;
  cache.limits = &kLimits;
}

void* system_allocate(size_t bytes) {
  const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kGranule;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory && alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

constinit thread_local ThreadCache t_cache;

void flush_counts(ThreadCache& cache) {
  Shared& all = shared();
  const ptrdiff_t live = all.live.fetch_add(cache.live_change) + cache.live_change;
  all.allocations.fetch_add(cache.allocations);
  cache.live_change = 0;
  cache.allocations = 0;
  ptrdiff_t peak = all.peak.load();
  while (live > peak && !all.peak.compare_exchange_weak(peak, live)) {
  }
}

void* allocate_slow(ThreadCache& cache, int size_class) {
  if (cache.limits == &kNoLimits) register_thread(cache);
  Shared& all = shared();
  {
    std::lock_guard lock(all.mutex);
    if (void* block = all.lists[size_class].pop()) return block;
  }
  const size_t bytes = class_bytes(size_class);
  void* memory = system_allocate(bytes);
  if (!memory) {
    release_cached();
    memory = system_allocate(bytes);
  }
  if (!memory) {
    fail(ErrorKind::unavailable, "allocate: out of memory on cpu; {} bytes wanted, {} in use",
         bytes, all.live.load() + cache.live_change);
  }
  all.system_allocations.fetch_add(1);
  all.held.fetch_add(bytes);
  return memory;
}

void trim(ThreadCache& cache, int size_class) {
  if (cache.limits == &kNoLimits) register_thread(cache);
  give_to_shared(cache.lists[size_class], size_class, kLimits[size_class] / 2);
}

Stats stats() {
  flush_counts(t_cache);
  Shared& all = shared();
  Stats s;
  s.live = static_cast<size_t>(all.live.load());
  s.peak_live = static_cast<size_t>(all.peak.load());
  s.cached = all.held.load() - s.live;
  s.allocations = all.allocations.load();
  s.system_allocations = all.system_allocations.load();
  return s;
}

void reset_peak() {
  flush_counts(t_cache);
  shared().peak.store(shared().live.load());
}

void release_cached() {
  Shared& all = shared();
  for (int c = 0; c < kClasses; ++c) give_to_shared(t_cache.lists[c], c, 0);
  std::lock_guard lock(all.mutex);
  for (int c = 0; c < kClasses; ++c) {
    while (void* block = all.lists[c].pop()) {
      std::free(block);
      all.held.fetch_sub(class_bytes(c));
    }
  }
}

}  // namespace thalweg::pool
