#include "kernels/conv/gray_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/gray_loops.cpp"
// clang-format off
#include "kernels/simd/vector_arrays.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::conv::gray::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kLanes>;
using V = hn::Vec<D>;
constexpr int64_t kWidth = hn::MaxLanes(D());

// What the vector registers hold: 32 with AVX-512, else 16.
#if HWY_TARGET <= HWY_AVX3
constexpr int kVectors = 2, kOutputs = 6, kTaps = 4;
#else
constexpr int kVectors = 1, kOutputs = 3, kTaps = 4;
#endif
constexpr int kRowOutputs = 8;

// --- forward: kCount outputs of kVectors vectors of pixels ---
template <int kCount>
HWY_INLINE void row_block(const RowProduct& p, int64_t first, int64_t i) {
  const D d;
  V sums[kCount][kVectors];
  THALWEG_UNROLL
  for (int o = 0; o < kCount; ++o) {
    THALWEG_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      sums[o][v] = hn::Set(d, p.start ? p.start[first + o] : 0.0f);
    }
  }
  const float* weights = p.weights + first;
  for (int64_t t = 0; t < p.taps; ++t, weights += p.outputs) {
    V x[kVectors];
    THALWEG_UNROLL
    for (int v = 0; v < kVectors; ++v) x[v] = hn::LoadU(d, p.row + p.offsets[t] + i + v * kWidth);
    THALWEG_UNROLL
    for (int o = 0; o < kCount; ++o) {
      const V w = hn::Set(d, weights[o]);
      THALWEG_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[o][v] = hn::MulAdd(w, x[v], sums[o][v]);
    }
  }
  THALWEG_UNROLL
  for (int o = 0; o < kCount; ++o) {
    THALWEG_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[o][v], d, p.out + (first + o) * p.out_step + i + v * kWidth);
    }
  }
}

template <int kCount>
void row_blocks(const RowProduct& p, int64_t first) {
  for (int64_t i = 0; i < p.width; i += kVectors * kWidth) row_block<kCount>(p, first, i);
}

// Calls the instance for `count` <= kMost.
template <int kMost, typename F>
HWY_INLINE void with_count(int64_t count, F&& f) {
  if constexpr (kMost > 1) {
    if (count < kMost) return with_count<kMost - 1>(count, f);
  }
  f.template operator()<kMost>();
}

void row_product_impl(const RowProduct& p) {
  for (int64_t o = 0; o < p.outputs; o += kRowOutputs) {
    with_count<kRowOutputs>(p.outputs - o, [&]<int kCount>() { row_blocks<kCount>(p, o); });
  }
}

// --- weight gradient: kCount outputs by kTaps taps, a vector of partial sums each ---
struct TapOffsets {
  int64_t at[kTaps];
};

template <int kCount>
HWY_INLINE void add_products(const float* gradient, int64_t step, const float* x,
                             const TapOffsets& offsets, hn::Mask<D> mask,
                             V (&sums)[kCount][kTaps]) {
  const D d;
  V taps[kTaps];
  THALWEG_UNROLL
  for (int t = 0; t < kTaps; ++t)
    taps[t] = hn::IfThenElseZero(mask, hn::LoadU(d, x + offsets.at[t]));
  THALWEG_UNROLL
  for (int o = 0; o < kCount; ++o) {
    const V g = hn::LoadU(d, gradient + o * step);
    THALWEG_UNROLL
    for (int t = 0; t < kTaps; ++t) sums[o][t] = hn::MulAdd(g, taps[t], sums[o][t]);
  }
}

template <int kCount>
void tap_block(const TapSums& p, int64_t first, int64_t first_tap) {
  const D d;
  TapOffsets offsets;
  THALWEG_UNROLL
  for (int t = 0; t < kTaps; ++t) {
    offsets.at[t] = p.offsets[std::min<int64_t>(first_tap + t, p.taps - 1)];
  }
  V sums[kCount][kTaps];
  THALWEG_UNROLL
  for (int o = 0; o < kCount; ++o) {
    THALWEG_UNROLL
    for (int t = 0; t < kTaps; ++t) sums[o][t] = hn::Zero(d);
  }
  const auto all = hn::FirstN(d, kWidth);
  const int64_t whole = p.width / kWidth * kWidth;
  const auto rest = hn::FirstN(d, static_cast<size_t>(p.width - whole));
  for (int64_t r = 0; r < p.row_count; ++r) {
    const float* gradient = p.gradients + (r * p.outputs + first) * p.gradient_step;
    const float* x = p.image + p.rows[r];
    int64_t i = 0;
    for (; i < whole; i += kWidth) {
      add_products<kCount>(gradient + i, p.gradient_step, x + i, offsets, all, sums);
    }
    if (i < p.width) {
      add_products<kCount>(gradient + i, p.gradient_step, x + i, offsets, rest, sums);
    }
  }
  THALWEG_UNROLL
  for (int o = 0; o < kCount; ++o) {
    THALWEG_UNROLL
    for (int t = 0; t < kTaps; ++t) {
      if (first_tap + t >= p.taps) continue;
      float* total = p.sums + ((first + o) * p.taps + first_tap + t) * kLanes;
      hn::StoreU(hn::Add(hn::LoadU(d, total), sums[o][t]), d, total);
    }
  }
}

void tap_sums_impl(const TapSums& p) {
  for (int64_t o = 0; o < p.outputs; o += kOutputs) {
    for (int64_t t = 0; t < p.taps; t += kTaps) {
      with_count<kOutputs>(p.outputs - o, [&]<int kCount>() { tap_block<kCount>(p, o, t); });
    }
  }
}

}  // namespace
}  // namespace thalweg::conv::gray::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::conv::gray {

HWY_EXPORT(row_product_impl);
HWY_EXPORT(tap_sums_impl);

void row_product(const RowProduct& product) { HWY_DYNAMIC_DISPATCH(row_product_impl)(product); }
void tap_sums(const TapSums& sums) { HWY_DYNAMIC_DISPATCH(tap_sums_impl)(sums); }

}  // namespace thalweg::conv::gray
#endif
