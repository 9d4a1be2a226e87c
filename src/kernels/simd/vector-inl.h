// Simd<T>: a vector of T that the expressions of pointwise.def compile for, and its mask. Compiled
// once per target.

// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
// clang-format on

#include <type_traits>

#if defined(THALWEG_KERNELS_SIMD_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THALWEG_KERNELS_SIMD_VECTOR_INL_H
#undef THALWEG_KERNELS_SIMD_VECTOR_INL_H
#else
#define THALWEG_KERNELS_SIMD_VECTOR_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
struct SimdMask {
  using M = hn::Mask<hn::ScalableTag<T>>;
  M m;

  friend HWY_INLINE SimdMask operator&&(SimdMask a, SimdMask b) { return {hn::And(a.m, b.m)}; }
  friend HWY_INLINE SimdMask operator||(SimdMask a, SimdMask b) { return {hn::Or(a.m, b.m)}; }
  friend HWY_INLINE SimdMask operator!=(SimdMask a, SimdMask b) { return {hn::Xor(a.m, b.m)}; }
  friend HWY_INLINE SimdMask operator!(SimdMask a) { return {hn::Not(a.m)}; }
};

template <typename T>
struct Simd {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Mask = SimdMask<T>;
  V v;

  HWY_INLINE Simd(V vector) : v(vector) {}
  template <typename L>
  requires std::is_arithmetic_v<L> HWY_INLINE Simd(L literal)
      : v(hn::Set(D(), static_cast<T>(literal))) {}

  friend HWY_INLINE Simd operator-(Simd a) { return hn::Neg(a.v); }
  friend HWY_INLINE Simd operator+(Simd a, Simd b) { return hn::Add(a.v, b.v); }
  friend HWY_INLINE Simd operator-(Simd a, Simd b) { return hn::Sub(a.v, b.v); }
  friend HWY_INLINE Simd operator*(Simd a, Simd b) { return hn::Mul(a.v, b.v); }
  friend HWY_INLINE Simd operator/(Simd a, Simd b) { return hn::Div(a.v, b.v); }
  friend HWY_INLINE Mask operator==(Simd a, Simd b) { return {hn::Eq(a.v, b.v)}; }
  // Not hn::Ne, which is false for NaN on x86.
  friend HWY_INLINE Mask operator!=(Simd a, Simd b) { return !(a == b); }
  friend HWY_INLINE Mask operator<(Simd a, Simd b) { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator<=(Simd a, Simd b) { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>(Simd a, Simd b) { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>=(Simd a, Simd b) { return {hn::Ge(a.v, b.v)}; }
};

template <typename T>
HWY_INLINE Simd<T> select(SimdMask<T> mask, std::type_identity_t<Simd<T>> a, Simd<T> b) {
  return hn::IfThenElse(mask.m, a.v, b.v);
}

HWY_INLINE Simd<double> lower_half(Simd<float> x) {
  const hn::Half<hn::ScalableTag<float>> dh;
  return hn::PromoteTo(hn::ScalableTag<double>(), hn::LowerHalf(dh, x.v));
}
HWY_INLINE Simd<double> upper_half(Simd<float> x) {
  const hn::Half<hn::ScalableTag<float>> dh;
  return hn::PromoteTo(hn::ScalableTag<double>(), hn::UpperHalf(dh, x.v));
}

/// The first n <= lanes elements; the others are zeros.
template <typename T>
HWY_INLINE Simd<T> load_first(const T* p, size_t n) {
  const hn::ScalableTag<T> d;
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) >= 4) return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#endif
  HWY_ALIGN T buffer[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < n; ++i) buffer[i] = p[i];
  return hn::Load(d, buffer);
}

template <typename T>
HWY_INLINE void store_first(Simd<T> x, T* p, size_t n) {
  const hn::ScalableTag<T> d;
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) >= 4) return hn::BlendedStore(x.v, hn::FirstN(d, n), d, p);
#endif
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(x.v, d, buffer);
  for (size_t i = 0; i < n; ++i) p[i] = buffer[i];
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
