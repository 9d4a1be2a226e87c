#pragma once

// The caching allocator of host memory. Blocks come in size classes, four to a doubling. Freed
// blocks go to a list of the freeing thread, from there in batches to a shared list; a class is
// never split or joined, so that reuse costs a pop and a push.

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

/// A block of the class, aligned to kGranule. Throws Error{unavailable} when memory is short.
void* allocate(int size_class);
void release(void* block, int size_class) noexcept;

struct Stats {
  size_t live, peak_live, cached;
  uint64_t allocations, system_allocations;
};
Stats stats();
void reset_peak();
/// Frees the cached blocks of this thread and of the shared lists.
void release_cached();

}  // namespace thalweg::pool
