#include "kernels/attention/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/rows.cpp"
// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/math-inl.h"
#include "kernels/simd/walk-inl.h"
// clang-format on

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

using tiled::GradientRows;
using tiled::kKeys;
using tiled::RowsOf;
using tiled::RowState;
using tiled::TileRows;
using F32 = Simd<float>;
using D = hn::ScalableTag<float>;

HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(D())); }

// `others` in the lanes from `count` on.
HWY_INLINE F32 first_lanes(F32 x, int64_t count, F32 others) {
  const int64_t within = std::clamp<int64_t>(count, 0, lanes());
  return select(SimdMask<float>{hn::FirstN(D(), static_cast<size_t>(within))}, x, others);
}

void multiply(float* x, int64_t n, float factor) {
  for_each_vector<float>(n, [&](int64_t i, size_t count) HWY_ATTR {
    store_count(load_count(x + i, count) * F32(factor), x + i, count);
  });
}

// Rows are walked by whole vectors, as many for each row of a tile: a row has room for them, and no
// branch depends on how many keys it sees.
HWY_INLINE float largest_scaled(const float* scores, int64_t seen, int64_t count, float scale) {
  const F32 least(-num::kInf<float>);
  F32 most = least;
  for (int64_t i = 0; i < count; i += lanes()) {
    const F32 x = first_lanes(F32(hn::LoadU(D(), scores + i)) * F32(scale), seen - i, least);
    most = num::max(x, most);
  }
  return hn::GetLane(hn::MaxOfLanes(D(), most.v));
}

HWY_INLINE float exponentials(float* scores, int64_t seen, int64_t count, float scale,
                              float largest) {
  F32 total(0);
  for (int64_t i = 0; i < count; i += lanes()) {
    const F32 e = num::exp(F32(hn::LoadU(D(), scores + i)) * F32(scale) - F32(largest));
    const F32 share = first_lanes(e, seen - i, F32(0));
    total = total + share;
    hn::StoreU(share.v, D(), scores + i);
  }
  return hn::GetLane(hn::SumOfLanes(D(), total.v));
}

void soften(float* scores, const TileRows& tile, float scale, RowState* states, const RowsOf& out) {
  for (int64_t r = 0; r < tile.rows; ++r, scores += kKeys) {
    RowState& state = states[r];
    const float largest =
        std::max(state.largest, largest_scaled(scores, tile.seen[r], tile.count, scale));
    if (largest == -num::kInf<float>) {
      std::fill_n(scores, tile.count, 0.0f);
      continue;
    }
    const float sum = exponentials(scores, tile.seen[r], tile.count, scale, largest);
    if (state.sum != 0 && state.largest != largest) {
      const float factor = std::exp(state.largest - largest);
      state.sum *= factor;
      multiply(out.data + r * out.step, out.size, factor);
    }
    state = {largest, state.sum + sum};
  }
}

void finish(const RowState* states, int64_t rows, const RowsOf& out, float* log_sums) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = out.data + r * out.step;
    if (states[r].sum == 0)
      std::fill_n(row, out.size, 0.0f);
    else
      multiply(row, out.size, 1 / states[r].sum);
    log_sums[r] = states[r].sum;
  }
  for_each_vector<float>(rows, [&](int64_t i, size_t count) HWY_ATTR {
    store_count(num::log(load_count(log_sums + i, count)), log_sums + i, count);
  });
  for (int64_t r = 0; r < rows; ++r)
    log_sums[r] = states[r].sum == 0 ? 0 : states[r].largest + log_sums[r];
}

void soften_gradient(float* scores, float* dp, const TileRows& tile, const GradientRows& by) {
  const F32 score_scale(by.score_scale), scale(by.scale);
  for (int64_t r = 0; r < tile.rows; ++r, scores += kKeys, dp += kKeys) {
    const F32 log_sum(by.log_sums[r]), total(by.totals[r]);
    for (int64_t i = 0; i < tile.count; i += lanes()) {
      const F32 p = num::exp(F32(hn::LoadU(D(), scores + i)) * score_scale - log_sum);
      const F32 ds = p * (F32(hn::LoadU(D(), dp + i)) - total) * scale;
      hn::StoreU(first_lanes(p, tile.seen[r] - i, F32(0)).v, D(), scores + i);
      hn::StoreU(first_lanes(ds, tile.seen[r] - i, F32(0)).v, D(), dp + i);
    }
  }
}

void dots(const RowsOf& a, const RowsOf& b, int64_t rows, float* totals) {
  for (int64_t r = 0; r < rows; ++r) {
    const float *x = a.data + r * a.step, *y = b.data + r * b.step;
    F32 total(0);
    for_each_vector<float>(a.size, [&](int64_t i, size_t count) HWY_ATTR {
      total = total + load_count(x + i, count) * load_count(y + i, count);
    });
    totals[r] = hn::GetLane(hn::SumOfLanes(D(), total.v));
  }
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(soften);
HWY_EXPORT(finish);
HWY_EXPORT(soften_gradient);
HWY_EXPORT(dots);

void tiled::soften(float* scores, const TileRows& tile, float scale, RowState* states,
                   const RowsOf& out) {
  HWY_DYNAMIC_DISPATCH(soften)(scores, tile, scale, states, out);
}

void tiled::finish(const RowState* states, int64_t rows, const RowsOf& out, float* log_sums) {
  HWY_DYNAMIC_DISPATCH(finish)(states, rows, out, log_sums);
}

void tiled::soften_gradient(float* scores, float* dp, const TileRows& tile,
                            const GradientRows& by) {
  HWY_DYNAMIC_DISPATCH(soften_gradient)(scores, dp, tile, by);
}

void tiled::dots(const RowsOf& a, const RowsOf& b, int64_t rows, float* totals) {
  HWY_DYNAMIC_DISPATCH(dots)(a, b, rows, totals);
}
}  // namespace thalweg
#endif
