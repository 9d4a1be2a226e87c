// Loads and stores of f16 and bf16 as vectors of f32.

// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
#include "kernels/simd/vector-inl.h"
// clang-format on

#include <cstring>

#include <thalweg/tensor/half.h>

#if defined(THALWEG_KERNELS_SIMD_CONVERT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THALWEG_KERNELS_SIMD_CONVERT_INL_H
#undef THALWEG_KERNELS_SIMD_CONVERT_INL_H
#else
#define THALWEG_KERNELS_SIMD_CONVERT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

// Element types of memory: what is loaded, computed in Compute and stored again.
template <typename T>
struct Memory {
  using Compute = T;
  static HWY_INLINE Simd<T> load(const T* p) { return hn::LoadU(hn::ScalableTag<T>(), p); }
  static HWY_INLINE Simd<T> load_first(const T* p, size_t n) {
    return HWY_NAMESPACE::load_first(p, n);
  }
  static HWY_INLINE void store(Simd<T> x, T* p) { hn::StoreU(x.v, hn::ScalableTag<T>(), p); }
  static HWY_INLINE void store_first(Simd<T> x, T* p, size_t n) {
    HWY_NAMESPACE::store_first(x, p, n);
  }
};

// How halves of each kind widen and narrow, a vector at a time.
struct BFloat16Bits {
  using D = hn::ScalableTag<float>;
  using D16 = hn::Rebind<uint16_t, D>;
  using D32 = hn::RebindToUnsigned<D>;
  static HWY_INLINE Simd<float> widen(hn::Vec<D16> bits) {
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(D32(), bits)));
  }
  // To the nearest, halves to even; a NaN is kept one.
  static HWY_INLINE hn::Vec<D16> narrow(Simd<float> x) {
    const D32 du;
    const auto bits = hn::BitCast(du, x.v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
    const auto nan = hn::RebindMask(du, (x != x).m);
    const auto kept = hn::IfThenElse(nan, hn::Or(bits, hn::Set(du, 0x400000)), rounded);
    return hn::TruncateTo(D16(), hn::ShiftRight<16>(kept));
  }
};

struct Float16Bits {
  using D = hn::ScalableTag<float>;
  using D16 = hn::Rebind<uint16_t, D>;
  using DF16 = hn::Rebind<hwy::float16_t, D>;
#if HWY_TARGET <= HWY_AVX2
  static HWY_INLINE Simd<float> widen(hn::Vec<D16> bits) {
    return hn::PromoteTo(D(), hn::BitCast(DF16(), bits));
  }
  static HWY_INLINE hn::Vec<D16> narrow(Simd<float> x) {
    return hn::BitCast(D16(), hn::DemoteTo(DF16(), x.v));
  }
#else
  static HWY_INLINE Simd<float> widen(hn::Vec<D16> bits) {
    HWY_ALIGN uint16_t in[hn::MaxLanes(D())];
    HWY_ALIGN float out[hn::MaxLanes(D())];
    hn::StoreU(bits, D16(), in);
    for (size_t i = 0; i < hn::Lanes(D()); ++i) out[i] = detail::f16_to_f32(in[i]);
    return hn::Load(D(), out);
  }
  static HWY_INLINE hn::Vec<D16> narrow(Simd<float> x) {
    HWY_ALIGN float in[hn::MaxLanes(D())];
    HWY_ALIGN uint16_t out[hn::MaxLanes(D())];
    hn::Store(x.v, D(), in);
    for (size_t i = 0; i < hn::Lanes(D()); ++i) out[i] = detail::f32_to_f16(in[i]);
    return hn::LoadU(D16(), out);
  }
#endif
};

template <typename T, typename Bits>
struct HalfMemory {
  using Compute = float;
  using D = hn::ScalableTag<float>;
  using D16 = hn::Rebind<uint16_t, D>;
  static HWY_INLINE Simd<float> load(const T* p) {
    return Bits::widen(hn::LoadU(D16(), reinterpret_cast<const uint16_t*>(p)));
  }
  static HWY_INLINE Simd<float> load_first(const T* p, size_t n) {
    HWY_ALIGN uint16_t bits[hn::MaxLanes(D())] = {};
    for (size_t i = 0; i < n; ++i) bits[i] = p[i].bits;
    return Bits::widen(hn::LoadU(D16(), bits));
  }
  static HWY_INLINE void store(Simd<float> x, T* p) {
    hn::StoreU(Bits::narrow(x), D16(), reinterpret_cast<uint16_t*>(p));
  }
  static HWY_INLINE void store_first(Simd<float> x, T* p, size_t n) {
    HWY_ALIGN uint16_t bits[hn::MaxLanes(D())];
    hn::StoreU(Bits::narrow(x), D16(), bits);
    for (size_t i = 0; i < n; ++i) p[i] = T::from_bits(bits[i]);
  }
};
template <>
struct Memory<Float16> : HalfMemory<Float16, Float16Bits> {};
template <>
struct Memory<BFloat16> : HalfMemory<BFloat16, BFloat16Bits> {};

template <typename T>
using Compute = typename Memory<T>::Compute;

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
