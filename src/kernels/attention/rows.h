#pragma once

// What happens to the rows of a tile of scores between the products.

#include <cstdint>

namespace thalweg::tiled {

/// Running state of the softmax of one query, over the tiles of keys seen so far.
struct RowState {
  float largest;  // of the scaled scores; -inf at first
  float sum;      // of exp(score - largest)
};

/// scores[0, count) become exp(scale * score - largest) by the new largest score, those up to n
/// become 0; `out`, which was summed with the old one, is scaled to fit.
void soften(float* scores, int64_t count, int64_t n, float scale, RowState& state, float* out,
            int64_t out_size);

/// out times 1 / sum, or zeros; the logarithm of the sum of exponentials, or 0.
float finish(const RowState& state, float* out, int64_t out_size);

struct GradientRow {
  float score_scale;  // 1 where the scores are scaled already
  float scale;        // of the gradient
  float log_sum;
  float total;  // the product of the output and its gradient
};

/// scores[0, count) become the softmax's shares p = exp(score_scale * score - log_sum), and dp[0,
/// count) scale * p * (dp - total); both 0 up to n.
void soften_gradient(float* scores, float* dp, int64_t count, int64_t n, const GradientRow& row);

float dot(const float* a, const float* b, int64_t n);

}  // namespace thalweg::tiled
