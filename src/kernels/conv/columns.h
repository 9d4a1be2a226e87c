#pragma once

// Moves of elements that turn a convolution into a matrix product, and back.

#include <cstddef>
#include <cstdint>
#include <span>

namespace thalweg::conv {

/// What copy_patches and add_patches may touch behind the last element they are asked for.
inline constexpr size_t kSlack = 64;

/// Runs of `bytes` bytes at `from` + i * step + offsets[j], for i < count and all j, side by side
/// in `to`. Reads and writes up to kSlack bytes behind the last run.
void copy_patches(const std::byte* from, int64_t step, std::span<const int64_t> offsets,
                  int64_t bytes, int64_t count, std::byte* to);

/// For each of `count` pixels i the sum, over all bases and over the offsets [first[i],
/// first[i + 1]), of the n elements at base + offset, plus `start` [n] if it is not null; written
/// to to + i * step. Reads up to kSlack bytes behind each run.
template <typename T>
struct PatchSums {
  std::span<const T* const> bases;
  const int64_t* offsets;
  const int64_t* first;
  int64_t count, n;
  const T* start;
  T* to;
  int64_t step;
};
void sum_patches(const PatchSums<float>& sums);
void sum_patches(const PatchSums<double>& sums);

}  // namespace thalweg::conv
