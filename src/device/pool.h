#pragma once

// The caching allocator of host memory. Blocks come in size classes, four to a doubling. Freed
// blocks go to a list of the freeing thread, from there in batches to a shared list; a class is
// never split or joined, so that reuse costs a pop and a push.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace thalweg::pool {

inline constexpr size_t kGranule = 64;
inline constexpr int kClasses = 224;  // up to 2^63 bytes, the largest that a tensor may ask for

/// The class whose blocks hold `bytes`.
constexpr int class_of(size_t bytes) {
  const size_t granules = bytes <= kGranule ? 1 : (bytes + kGranule - 1) / kGranule;
  if (granules <= 4) return static_cast<int>(granules) - 1;
  const int log2 = std::bit_width(granules - 1) - 1;  // granules in (2^log2, 2^(log2+1)]
  const size_t step = size_t{1} << (log2 - 2);
  const size_t quarter = (granules - 1 - (size_t{1} << log2)) / step;  // 0..3
  return 4 * (log2 - 1) + static_cast<int>(quarter);
}

/// Bytes of a block of this class.
constexpr size_t class_bytes(int size_class) {
  if (size_class < 4) return (static_cast<size_t>(size_class) + 1) * kGranule;
  const int log2 = size_class / 4 + 1;
  const size_t step = size_t{1} << (log2 - 2);
  return ((size_t{1} << log2) + (static_cast<size_t>(size_class % 4) + 1) * step) * kGranule;
}

static_assert(class_of(size_t{1} << 63) == kClasses - 1);

template <size_t Bytes>
inline constexpr int kClassOf = class_of(Bytes);

inline constexpr auto kClassBytes = [] {
  std::array<ptrdiff_t, kClasses> bytes{};
  for (int c = 0; c < kClasses; ++c) bytes[c] = static_cast<ptrdiff_t>(class_bytes(c));
  return bytes;
}();

class FreeList {
 public:
  void push(void* memory) {
    Block* block = static_cast<Block*>(memory);
    block->next = head_;
    head_ = block;
    ++count_;
  }
  void* pop() {
    Block* block = head_;
    if (!block) return nullptr;
    head_ = block->next;
    --count_;
    return block;
  }
  unsigned count() const { return count_; }

 private:
  struct Block {
    Block* next;
  };
  Block* head_ = nullptr;
  unsigned count_ = 0;
};

/// How many blocks of each class a thread keeps: none before it signed up.
using Limits = std::array<unsigned, kClasses>;
inline constexpr Limits kNoLimits = {};

/// Counts are kept per thread and added up at every kFlushBytes, so that the hot path has no
/// atomic.
struct ThreadCache {
  FreeList lists[kClasses];
  ptrdiff_t live_change = 0;
  uint64_t allocations = 0;
  const Limits* limits = &kNoLimits;
};

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local ThreadCache t_cache;

inline constexpr ptrdiff_t kFlushBytes = 64 << 10;

void* allocate_slow(ThreadCache& cache, int size_class);
void trim(ThreadCache& cache, int size_class);
void flush_counts(ThreadCache& cache);

inline void count(ThreadCache& cache, ptrdiff_t bytes) {
  cache.live_change += bytes;
  const size_t distance = static_cast<size_t>(cache.live_change + kFlushBytes);
  if (distance > static_cast<size_t>(2 * kFlushBytes)) [[unlikely]]
    flush_counts(cache);
}

/// A block of the class, aligned to kGranule. Throws Error{unavailable} when memory is short.
inline void* allocate(int size_class) {
  ThreadCache& cache = t_cache;
  void* block = cache.lists[size_class].pop();
  if (!block) [[unlikely]]
    block = allocate_slow(cache, size_class);
  ++cache.allocations;
  count(cache, kClassBytes[size_class]);
  return block;
}

inline void release(void* block, int size_class) noexcept {
  ThreadCache& cache = t_cache;
  count(cache, -kClassBytes[size_class]);
  FreeList& list = cache.lists[size_class];
  list.push(block);
  if (list.count() > (*cache.limits)[size_class]) [[unlikely]]
    trim(cache, size_class);
}

struct Stats {
  size_t live, peak_live, cached;
  uint64_t allocations, system_allocations;
};
Stats stats();
void reset_peak();
/// Frees the cached blocks of this thread and of the shared lists.
void release_cached();

}  // namespace thalweg::pool
