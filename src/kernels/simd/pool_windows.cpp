// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/pool_windows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/convert-inl.h"
// clang-format on

#include "kernels/simd/pool_windows.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

using simd::PoolRows;
using simd::PoolSpan;

template <typename T>
HWY_INLINE Simd<Compute<T>> load_some(const T* p, size_t n) {
  return n == hn::Lanes(hn::ScalableTag<Compute<T>>()) ? Memory<T>::load(p)
                                                       : Memory<T>::load_first(p, n);
}

template <typename T>
HWY_INLINE void store_some(Simd<Compute<T>> v, T* p, size_t n) {
  if (n == hn::Lanes(hn::ScalableTag<Compute<T>>()))
    Memory<T>::store(v, p);
  else
    Memory<T>::store_first(v, p, n);
}

// Calls f(element of x, its index among the spatial elements) for a window.
template <typename T, typename F>
HWY_INLINE void for_each_element(const PoolProblem& p, const PoolSpan (&s)[3], const T* x, F&& f) {
  for (int64_t d = s[0].first; d < s[0].end; ++d) {
    for (int64_t h = s[1].first; h < s[1].end; ++h) {
      const T* row = x + d * p.x.spatial[0] + h * p.x.spatial[1];
      const int64_t index = (d * p.in[1] + h) * p.in[2];
      for (int64_t w = s[2].first; w < s[2].end; ++w) f(row + w * p.x.spatial[2], index + w);
    }
  }
}

template <typename T>
HWY_INLINE void max_window(const PoolProblem& p, const PoolSpan (&s)[3], const T* x, T* y,
                           int64_t* indices, size_t n) {
  using C = Compute<T>;
  using D = hn::ScalableTag<C>;
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<decltype(di)>;
  Simd<C> best(0);
  auto best_index = hn::Set(di, I{-1});
  for_each_element(p, s, x, [&](const T* at, int64_t index) HWY_ATTR {
    const Simd<C> v = load_some(at, n);
    const auto here = hn::Set(di, static_cast<I>(index));
    // Larger or NaN, unless NaN is already there.
    const auto wins = !(v <= best) && best == best;
    const auto taken = hn::Or(hn::RebindMask(di, wins.m), hn::Lt(best_index, hn::Zero(di)));
    best = hn::IfThenElse(hn::RebindMask(D(), taken), v.v, best.v);
    best_index = hn::IfThenElse(taken, here, best_index);
  });
  store_some(best, y, n);
  HWY_ALIGN I found[hn::MaxLanes(di)];
  hn::Store(best_index, di, found);
  for (size_t i = 0; i < n; ++i) indices[i] = found[i];
}

template <typename T>
HWY_INLINE void average_window(const PoolProblem& p, const PoolSpan (&s)[3], const T* x, T* y,
                               int64_t divisor, size_t n) {
  Simd<Compute<T>> sum(0);
  for_each_element(p, s, x, [&](const T* at, int64_t) HWY_ATTR { sum = sum + load_some(at, n); });
  store_some(sum / Simd<Compute<T>>(divisor), y, n);
}

// Calls f(n, d, h) for rows of an array with `sizes`.
template <typename F>
HWY_INLINE void for_each_row(const PoolRows& rows, const int64_t (&sizes)[3], F&& f) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    f(row / (sizes[0] * sizes[1]), row / sizes[1] % sizes[0], row % sizes[1]);
  }
}

// Calls f(spans, x, y position, divisor, channels) for the vectors of channels of all windows of
// the rows.
template <typename T, typename F>
HWY_INLINE void for_each_window(const PoolRows& rows, F&& f) {
  const PoolProblem& p = rows.problem;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Compute<T>>()));
  for_each_row(rows, p.out, [&](int64_t n, int64_t d, int64_t h) HWY_ATTR {
    PoolSpan spans[3] = {rows.spans[0][d], rows.spans[1][h], {}};
    const T* x = static_cast<const T*>(rows.in) + n * p.x.outer;
    const int64_t y = n * p.y.outer + d * p.y.spatial[0] + h * p.y.spatial[1];
    const int64_t area = rows.counts[0][d] * rows.counts[1][h];
    for (int64_t w = 0; w < p.out[2]; ++w) {
      spans[2] = rows.spans[2][w];
      for (int64_t c = 0; c < p.channels; c += lanes) {
        f(spans, x + c, y + w * p.y.spatial[2] + c, area * rows.counts[2][w],
          static_cast<size_t>(std::min(lanes, p.channels - c)));
      }
    }
  });
}

template <typename T>
void max_rows(const PoolRows& rows) {
  for_each_window<T>(
      rows, [&](const PoolSpan(&spans)[3], const T* x, int64_t y, int64_t, size_t n) HWY_ATTR {
        max_window(rows.problem, spans, x, static_cast<T*>(rows.out) + y, rows.indices + y, n);
      });
}

template <typename T>
void average_rows(const PoolRows& rows) {
  for_each_window<T>(rows, [&](const PoolSpan(&spans)[3], const T* x, int64_t y, int64_t divisor,
                               size_t n) HWY_ATTR {
    average_window(rows.problem, spans, x, static_cast<T*>(rows.out) + y, divisor, n);
  });
}

// The sum of the shares that one element of x has in the windows it is in.
template <typename T>
HWY_INLINE Simd<Compute<T>> shares(const PoolRows& rows, const PoolSpan (&s)[3], const T* g,
                                   size_t n) {
  using C = Compute<T>;
  const PoolProblem& p = rows.problem;
  Simd<C> sum(0);
  for (int64_t d = s[0].first; d < s[0].end; ++d) {
    for (int64_t h = s[1].first; h < s[1].end; ++h) {
      const T* row = g + d * p.y.spatial[0] + h * p.y.spatial[1];
      const int64_t area = rows.counts[0][d] * rows.counts[1][h];
      for (int64_t w = s[2].first; w < s[2].end; ++w) {
        sum = sum + load_some(row + w * p.y.spatial[2], n) / Simd<C>(area * rows.counts[2][w]);
      }
    }
  }
  return sum;
}

template <typename T>
void average_gradient_rows(const PoolRows& rows) {
  const PoolProblem& p = rows.problem;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Compute<T>>()));
  for_each_row(rows, p.in, [&](int64_t n, int64_t d, int64_t h) HWY_ATTR {
    PoolSpan spans[3] = {rows.spans[0][d], rows.spans[1][h], {}};
    const T* g = static_cast<const T*>(rows.in) + n * p.y.outer;
    T* x = static_cast<T*>(rows.out) + n * p.x.outer + d * p.x.spatial[0] + h * p.x.spatial[1];
    for (int64_t w = 0; w < p.in[2]; ++w) {
      spans[2] = rows.spans[2][w];
      for (int64_t c = 0; c < p.channels; c += lanes) {
        const size_t count = static_cast<size_t>(std::min(lanes, p.channels - c));
        store_some(shares(rows, spans, g + c, count), x + w * p.x.spatial[2] + c, count);
      }
    }
  });
}

template <typename T>
void fill_dtype(simd::PoolTable& table) {
  constexpr int k = static_cast<int>(dtype_of<T>);
  table.max[k] = max_rows<T>;
  table.average[k] = average_rows<T>;
  table.average_gradient[k] = average_gradient_rows<T>;
}

void fill_windows(simd::PoolTable& table) {
  fill_dtype<float>(table);
  fill_dtype<double>(table);
  fill_dtype<Float16>(table);
  fill_dtype<BFloat16>(table);
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill_windows);

void simd::fill_pool(PoolTable& table) { HWY_DYNAMIC_DISPATCH(fill_windows)(table); }
}  // namespace thalweg
#endif
