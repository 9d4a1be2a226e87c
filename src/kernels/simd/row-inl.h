// The innermost loops of point-wise kernels: whole vectors, then one partial vector.

// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
#include "kernels/simd/vector-inl.h"
// clang-format on

#include "kernels/simd/strided_row.h"

#if defined(THALWEG_KERNELS_SIMD_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THALWEG_KERNELS_SIMD_ROW_INL_H
#undef THALWEG_KERNELS_SIMD_ROW_INL_H
#else
#define THALWEG_KERNELS_SIMD_ROW_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

/// One input of a row, as a pointer that steps by whole vectors. A repeated element becomes a
/// vector that the pointer stays on.
template <typename T>
class RowInput {
  using D = hn::ScalableTag<T>;

 public:
  HWY_INLINE void start(const char* data, int64_t stride) {
    p_ = reinterpret_cast<const T*>(data);
    step_ = hn::Lanes(D());
    if (stride != 0) return;
    hn::Store(hn::Set(D(), *p_), D(), repeated_);
    p_ = repeated_;
    step_ = 0;
  }
  HWY_INLINE Simd<T> next() {
    const T* p = p_;
    p_ += step_;
    return hn::LoadU(D(), p);
  }
  HWY_INLINE Simd<T> last(size_t n) const { return load_first(p_, n); }

 private:
  const T* p_;
  size_t step_;
  HWY_ALIGN T repeated_[hn::MaxLanes(D())];
};

// Writes results as elements of T, or masks as the bytes 0 and 1 of a bool.
template <typename T>
HWY_INLINE char* store(Simd<T> x, char* out) {
  const hn::ScalableTag<T> d;
  hn::StoreU(x.v, d, reinterpret_cast<T*>(out));
  return out + hn::Lanes(d) * sizeof(T);
}
template <typename T>
HWY_INLINE void store_last(Simd<T> x, char* out, size_t n) {
  store_first(x, reinterpret_cast<T*>(out), n);
}
template <typename T>
HWY_INLINE auto mask_bytes(SimdMask<T> mask) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto ones = hn::And(hn::BitCast(du, hn::VecFromMask(d, mask.m)), hn::Set(du, 1));
  return hn::TruncateTo(d8, ones);
}
template <typename T>
HWY_INLINE char* store(SimdMask<T> mask, char* out) {
  const hn::ScalableTag<T> d;
  hn::StoreU(mask_bytes(mask), hn::Rebind<uint8_t, decltype(d)>(), reinterpret_cast<uint8_t*>(out));
  return out + hn::Lanes(d);
}
template <typename T>
HWY_INLINE void store_last(SimdMask<T> mask, char* out, size_t n) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN uint8_t bytes[hn::MaxLanes(d)];
  hn::StoreU(mask_bytes(mask), hn::Rebind<uint8_t, decltype(d)>(), bytes);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<char>(bytes[i]);
}

template <typename T, typename Out, size_t kInputs>
constexpr simd::RowItems row_items() {
  simd::RowItems items{kInputs, {}, sizeof(Out)};
  for (size_t i = 0; i < kInputs; ++i) items.in[i] = sizeof(T);
  return items;
}

/// F::apply(v0, v1, ...) over kInputs vectors of T gives a vector of T or, for Out = bool, a mask.
template <typename F, typename T, typename Out, size_t kInputs>
void simd_row(const PointwiseRow& row) {
  constexpr simd::RowItems kItems = row_items<T, Out, kInputs>();
  if (HWY_UNLIKELY(!simd::is_plain(row, kItems))) {
    return simd::strided_row(row, kItems, simd_row<F, T, Out, kInputs>);
  }
  RowInput<T> in[kInputs];
  for (size_t k = 0; k < kInputs; ++k) in[k].start(row.in[k], row.n == 1 ? 1 : row.in_stride[k]);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  char* out = row.out;
  int64_t left = row.n;
  for (; left >= lanes; left -= lanes) {
    if constexpr (kInputs == 1)
      out = store(F::apply(in[0].next()), out);
    else if constexpr (kInputs == 2)
      out = store(F::apply(in[0].next(), in[1].next()), out);
    else
      out = store(F::apply(in[0].next(), in[1].next(), in[2].next()), out);
  }
  if (left == 0) return;
  const size_t n = static_cast<size_t>(left);
  if constexpr (kInputs == 1)
    store_last(F::apply(in[0].last(n)), out, n);
  else if constexpr (kInputs == 2)
    store_last(F::apply(in[0].last(n), in[1].last(n)), out, n);
  else
    store_last(F::apply(in[0].last(n), in[1].last(n), in[2].last(n)), out, n);
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
