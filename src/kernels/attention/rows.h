#pragma once

// What happens to the rows of a tile of scores between the products.

#include <cstdint>

namespace thalweg::tiled {

inline constexpr int64_t kQueries = 32;
inline constexpr int64_t kKeys = 128;  // from one row of a tile to the next

/// Rows of scores, of which row i sees the first seen[i] of `count` keys.
struct TileRows {
  int64_t rows, count;
  int64_t seen[kQueries];
};

/// Running state of the softmax of one query, over the tiles of keys seen so far.
struct RowState {
  float largest;  // of the scaled scores; -inf at first
  float sum;      // of exp(score - largest)
};

/// Rows of a matrix, `step` apart.
struct RowsOf {
  float* data;
  int64_t step, size;
};

/// The scores that are seen become exp(scale * score - largest) by the new largest score of their
/// row, the others 0; rows of `out`, which were summed with the old one, are scaled to fit.
void soften(float* scores, const TileRows& tile, float scale, RowState* states, const RowsOf& out);

/// Rows of `out` times 1 / sum, or zeros; the logarithms of the sums of exponentials, or 0.
void finish(const RowState* states, int64_t rows, const RowsOf& out, float* log_sums);

struct GradientRows {
  float score_scale;      // 1 where the scores are scaled already
  float scale;            // of the gradient
  const float* log_sums;  // of each row
  const float* totals;    // the products of each row of the output and its gradient
};

/// The scores that are seen become the softmax's shares p = exp(score_scale * score - log_sum), and
/// dp becomes scale * p * (dp - total); both 0 where they are not seen.
void soften_gradient(float* scores, float* dp, const TileRows& tile, const GradientRows& by);

/// The products of each row of a and of b.
void dots(const RowsOf& a, const RowsOf& b, int64_t rows, float* totals);

}  // namespace thalweg::tiled
