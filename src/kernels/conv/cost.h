#pragma once

#include <algorithm>

#include "kernels/conv/patches.h"

namespace thalweg::conv {

/// Pixels whose patches stay in the second-level cache, but enough for a product.
inline int64_t block_pixels(const ConvProblem& p) {
  constexpr int64_t kElements = 32 * 1024, kLeast = 32, kMost = 256;
  return std::clamp(kElements / std::max<int64_t>(patch_size(p), 1), kLeast, kMost);
}

/// Nanoseconds of one block's product and copies.
inline double block_ns(const ConvProblem& p, const Blocks& blocks) {
  constexpr double kFlopsPerNs = 50, kCopiesPerNs = 8;
  const double patches =
      static_cast<double>(blocks.most_rows() * blocks.most_columns() * patch_size(p));
  return patches * (2 * static_cast<double>(p.out_channels) / kFlopsPerNs + 1 / kCopiesPerNs);
}

/// Position in y of a block's first pixel.
inline int64_t first_pixel(const ConvProblem& p, const Block& block) {
  return block.plane * p.y.spatial[0] + block.row * p.y.spatial[1] + block.column * p.y.spatial[2];
}

}  // namespace thalweg::conv
