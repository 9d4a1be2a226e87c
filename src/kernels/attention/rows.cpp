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

using tiled::GradientRow;
using tiled::RowState;
using F32 = Simd<float>;

HWY_INLINE F32 first_lanes(F32 x, size_t count, F32 others) {
  return select(SimdMask<float>{hn::FirstN(hn::ScalableTag<float>(), count)}, x, others);
}

void multiply(float* x, int64_t n, float factor) {
  for_each_vector<float>(n, [&](int64_t i, size_t count) HWY_ATTR {
    store_count(load_count(x + i, count) * F32(factor), x + i, count);
  });
}

HWY_INLINE float largest_scaled(const float* scores, int64_t n, float scale) {
  const F32 least(-num::kInf<float>);
  F32 most = least;
  for_each_vector<float>(n, [&](int64_t i, size_t count) HWY_ATTR {
    const F32 x = first_lanes(load_count(scores + i, count) * F32(scale), count, least);
    most = num::max(x, most);
  });
  return hn::GetLane(hn::MaxOfLanes(hn::ScalableTag<float>(), most.v));
}

void soften(float* scores, int64_t count, int64_t n, float scale, RowState& state, float* out,
            int64_t out_size) {
  const float largest = std::max(state.largest, largest_scaled(scores, count, scale));
  if (largest == -num::kInf<float>) {
    std::fill_n(scores, n, 0.0f);
    return;
  }
  F32 total(0);
  for_each_vector<float>(count, [&](int64_t i, size_t lanes) HWY_ATTR {
    const F32 e = num::exp(load_count(scores + i, lanes) * F32(scale) - F32(largest));
    total = total + first_lanes(e, lanes, F32(0));
    store_count(e, scores + i, lanes);
  });
  std::fill(scores + count, scores + n, 0.0f);
  const float sum = hn::GetLane(hn::SumOfLanes(hn::ScalableTag<float>(), total.v));
  if (state.sum != 0 && state.largest != largest) {
    const float factor = std::exp(state.largest - largest);
    state.sum *= factor;
    multiply(out, out_size, factor);
  }
  state = {largest, state.sum + sum};
}

float finish(const RowState& state, float* out, int64_t out_size) {
  if (state.sum == 0) {
    std::fill_n(out, out_size, 0.0f);
    return 0;
  }
  multiply(out, out_size, 1 / state.sum);
  return state.largest + std::log(state.sum);
}

void soften_gradient(float* scores, float* dp, int64_t count, int64_t n, const GradientRow& row) {
  const F32 score_scale(row.score_scale), scale(row.scale), log_sum(row.log_sum), total(row.total);
  for_each_vector<float>(count, [&](int64_t i, size_t lanes) HWY_ATTR {
    const F32 p = num::exp(load_count(scores + i, lanes) * score_scale - log_sum);
    const F32 ds = p * (load_count(dp + i, lanes) - total) * scale;
    store_count(p, scores + i, lanes);
    store_count(ds, dp + i, lanes);
  });
  std::fill(scores + count, scores + n, 0.0f);
  std::fill(dp + count, dp + n, 0.0f);
}

float dot(const float* a, const float* b, int64_t n) {
  F32 total(0);
  for_each_vector<float>(n, [&](int64_t i, size_t count) HWY_ATTR {
    total = total + load_count(a + i, count) * load_count(b + i, count);
  });
  return hn::GetLane(hn::SumOfLanes(hn::ScalableTag<float>(), total.v));
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(soften);
HWY_EXPORT(finish);
HWY_EXPORT(soften_gradient);
HWY_EXPORT(dot);

void tiled::soften(float* scores, int64_t count, int64_t n, float scale, RowState& state,
                   float* out, int64_t out_size) {
  HWY_DYNAMIC_DISPATCH(soften)(scores, count, n, scale, state, out, out_size);
}

float tiled::finish(const RowState& state, float* out, int64_t out_size) {
  return HWY_DYNAMIC_DISPATCH(finish)(state, out, out_size);
}

void tiled::soften_gradient(float* scores, float* dp, int64_t count, int64_t n,
                            const GradientRow& row) {
  HWY_DYNAMIC_DISPATCH(soften_gradient)(scores, dp, count, n, row);
}

float tiled::dot(const float* a, const float* b, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(dot)(a, b, n);
}
}  // namespace thalweg
#endif
