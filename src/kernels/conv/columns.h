#pragma once

// Moves of elements that turn a convolution into a matrix product, and back.

#include <cstddef>
#include <cstdint>
#include <span>

namespace thalweg::conv {

/// What copy_patches may touch behind the last element they are asked for.
inline constexpr size_t kSlack = 64;

/// Runs of `bytes` bytes at `from` + i * step + offsets[j], for i < count and all j, side by side
/// in `to`. Reads and writes up to kSlack bytes behind the last run.
void copy_patches(const std::byte* from, int64_t step, std::span<const int64_t> offsets,
                  int64_t bytes, int64_t count, std::byte* to);

/// Adds to each of `count` pixels i, which are `pitch` elements at to + i * pitch, the runs at
/// from + offset for the offsets [first[i], first[i + 1]). `pitch` is a multiple of 32 bytes; runs
/// are read to that length.
template <typename T>
struct PatchSums {
  const T* from;
  const int64_t* offsets;
  const int64_t* first;
  int64_t count, pitch;
  T* to;
};
void add_patches(const PatchSums<float>& sums);
void add_patches(const PatchSums<double>& sums);

}  // namespace thalweg::conv
