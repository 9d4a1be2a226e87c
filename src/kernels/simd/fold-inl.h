// Folds over a run of neighbours: sum, max, min.

// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
#include "kernels/simd/convert-inl.h"
#include "kernels/simd/vector-inl.h"
// clang-format on

#include <limits>

#if defined(THALWEG_KERNELS_SIMD_FOLD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THALWEG_KERNELS_SIMD_FOLD_INL_H
#undef THALWEG_KERNELS_SIMD_FOLD_INL_H
#else
#define THALWEG_KERNELS_SIMD_FOLD_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

// Vectors that a lane takes before it is widened to f64: bounds the error of sums.
inline constexpr int64_t kFoldBlock = 8;

struct SumFold {
  static constexpr double kInit = 0;
  static double join(double a, double b) { return a + b; }
  template <typename C>
  static HWY_INLINE Simd<C> step(Simd<C> a, Simd<C> x) {
    return a + x;
  }
  template <typename C>
  static HWY_INLINE double across(Simd<C> a) {
    return hn::GetLane(hn::SumOfLanes(hn::ScalableTag<C>(), a.v));
  }
};

// NaN wins: an accumulator that is NaN stays.
struct MaxFold {
  static constexpr double kInit = -std::numeric_limits<double>::infinity();
  static double join(double a, double b) { return a > b || a != a ? a : b; }
  template <typename C>
  static HWY_INLINE Simd<C> step(Simd<C> a, Simd<C> x) {
    return select(a > x || a != a, a, x);
  }
  template <typename C>
  static HWY_INLINE double across(Simd<C> a) {
    const hn::ScalableTag<C> d;
    if (!hn::AllTrue(d, (a == a).m)) return std::numeric_limits<double>::quiet_NaN();
    return hn::GetLane(hn::MaxOfLanes(d, a.v));
  }
};

struct MinFold {
  static constexpr double kInit = std::numeric_limits<double>::infinity();
  static double join(double a, double b) { return a < b || a != a ? a : b; }
  template <typename C>
  static HWY_INLINE Simd<C> step(Simd<C> a, Simd<C> x) {
    return select(a < x || a != a, a, x);
  }
  template <typename C>
  static HWY_INLINE double across(Simd<C> a) {
    const hn::ScalableTag<C> d;
    if (!hn::AllTrue(d, (a == a).m)) return std::numeric_limits<double>::quiet_NaN();
    return hn::GetLane(hn::MinOfLanes(d, a.v));
  }
};

/// Accumulators in f64 of as many lanes as a vector of C has.
template <typename Fold, typename C>
struct WideAccumulator {
  Simd<double> a, b;

  HWY_INLINE WideAccumulator() : a(Fold::kInit), b(Fold::kInit) {}
  HWY_INLINE void add(Simd<C> x) {
    if constexpr (sizeof(C) == 8) {
      a = Fold::step(a, x);
    } else {
      a = Fold::step(a, lower_half(x));
      b = Fold::step(b, upper_half(x));
    }
  }
  HWY_INLINE double across() const { return Fold::across(sizeof(C) == 8 ? a : Fold::step(a, b)); }
};

/// The fold of n neighbours; `map` is applied to each vector first.
template <typename Fold, typename T, typename Map>
HWY_INLINE double fold_run(const T* p, int64_t n, Map&& map) {
  using C = Compute<T>;
  const hn::ScalableTag<C> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  double total = Fold::kInit;
  if (n >= 4 * lanes) {
    WideAccumulator<Fold, C> wide;
    while (n >= 4 * lanes) {
      Simd<C> a0 = map(Memory<T>::load(p)), a1 = map(Memory<T>::load(p + lanes));
      Simd<C> a2 = map(Memory<T>::load(p + 2 * lanes)), a3 = map(Memory<T>::load(p + 3 * lanes));
      const int64_t whole = n / (4 * lanes);
      const int64_t steps = whole < kFoldBlock ? whole : kFoldBlock;
      const T* const end = p + steps * 4 * lanes;
      for (p += 4 * lanes; p < end; p += 4 * lanes) {
        a0 = Fold::step(a0, map(Memory<T>::load(p)));
        a1 = Fold::step(a1, map(Memory<T>::load(p + lanes)));
        a2 = Fold::step(a2, map(Memory<T>::load(p + 2 * lanes)));
        a3 = Fold::step(a3, map(Memory<T>::load(p + 3 * lanes)));
      }
      n -= steps * 4 * lanes;
      wide.add(Fold::step(Fold::step(a0, a1), Fold::step(a2, a3)));
    }
    total = wide.across();
  }
  if (n == 0) return total;
  Simd<C> a(Fold::kInit);
  for (; n >= lanes; n -= lanes, p += lanes) a = Fold::step(a, map(Memory<T>::load(p)));
  if (n > 0) {
    const size_t left = static_cast<size_t>(n);
    const Simd<C> last = map(Memory<T>::load_first(p, left));
    const SimdMask<C> valid{hn::FirstN(d, left)};
    a = Fold::step(a, select(valid, last, Simd<C>(Fold::kInit)));
  }
  return Fold::join(total, Fold::across(a));
}

template <typename Fold, typename T>
HWY_INLINE double fold_run(const T* p, int64_t n) {
  return fold_run<Fold>(p, n, [](auto x) HWY_ATTR { return x; });
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
