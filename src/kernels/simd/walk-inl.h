// Walks over a row by vectors, the last of which may be partial.

// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
#include "kernels/simd/convert-inl.h"
// clang-format on

#if defined(THALWEG_KERNELS_SIMD_WALK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THALWEG_KERNELS_SIMD_WALK_INL_H
#undef THALWEG_KERNELS_SIMD_WALK_INL_H
#else
#define THALWEG_KERNELS_SIMD_WALK_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

/// Calls f(first, count) for the vectors of C that cover n elements.
template <typename C, typename F>
HWY_INLINE void for_each_vector(int64_t n, F&& f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<C>()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, static_cast<size_t>(lanes));
  if (i < n) f(i, static_cast<size_t>(n - i));
}

/// `count` elements, a whole vector or fewer; the others are zeros.
template <typename T>
HWY_INLINE Simd<Compute<T>> load_count(const T* p, size_t count) {
  const bool whole = count == hn::Lanes(hn::ScalableTag<Compute<T>>());
  return whole ? Memory<T>::load(p) : Memory<T>::load_first(p, count);
}
template <typename T>
HWY_INLINE void store_count(Simd<Compute<T>> x, T* p, size_t count) {
  const bool whole = count == hn::Lanes(hn::ScalableTag<Compute<T>>());
  whole ? Memory<T>::store(x, p) : Memory<T>::store_first(x, p, count);
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
