#include "data/image/resample_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/image/resample_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace thalweg::data::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

HWY_INLINE hn::Vec<D> LoadFloats(D d, const uint8_t* from) {
  const hn::RebindToSigned<D> d32;
  const hn::Rebind<uint8_t, D> d8;
  return hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, from)));
}
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* from) { return hn::LoadU(d, from); }

template <typename T>
void BlendRows(const T* const* rows, const float* weights, size_t taps, float* out, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto sum = hn::Mul(LoadFloats(d, rows[0] + i), hn::Set(d, weights[0]));
    for (size_t k = 1; k < taps; ++k)
      sum = hn::MulAdd(LoadFloats(d, rows[k] + i), hn::Set(d, weights[k]), sum);
    hn::StoreU(sum, d, out + i);
  }
  for (; i < n; ++i) {
    float sum = static_cast<float>(rows[0][i]) * weights[0];
    for (size_t k = 1; k < taps; ++k) sum += static_cast<float>(rows[k][i]) * weights[k];
    out[i] = sum;
  }
}

void BlendRowsU8(const uint8_t* const* rows, const float* weights, size_t taps, float* out,
                 size_t n) {
  BlendRows(rows, weights, taps, out, n);
}
void BlendRowsF32(const float* const* rows, const float* weights, size_t taps, float* out,
                  size_t n) {
  BlendRows(rows, weights, taps, out, n);
}

void BlendPixels3(const float* in, const int32_t* first, const float* weights, size_t taps,
                  float* out, size_t n) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < n; ++i) {
    const float* from = in + 3 * static_cast<size_t>(first[i]);
    for (size_t c = 0; c < 3; ++c) {
      float sum = 0;
      for (size_t k = 0; k < taps; ++k) sum += from[3 * k + c] * weights[i * taps + k];
      out[3 * i + c] = sum;
    }
  }
#else
  const hn::FixedTag<float, 4> d;
  for (size_t i = 0; i < n; ++i) {
    const float* from = in + 3 * static_cast<size_t>(first[i]);
    const float* weight = weights + i * taps;
    auto sum = hn::Mul(hn::LoadU(d, from), hn::Set(d, weight[0]));
    for (size_t k = 1; k < taps; ++k)
      sum = hn::MulAdd(hn::LoadU(d, from + 3 * k), hn::Set(d, weight[k]), sum);
    hn::StoreU(sum, d, out + 3 * i);
  }
#endif
}

void RoundToU8(const float* in, uint8_t* out, size_t n) {
  const D d;
  const hn::Rebind<uint8_t, D> d8;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::LoadU(d, in + i))), d8, out + i);
  if (i == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  HWY_ALIGN uint8_t bytes[hn::MaxLanes(d)];
  for (size_t j = i; j < n; ++j) rest[j - i] = in[j];
  hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Load(d, rest))), d8, bytes);
  for (size_t j = i; j < n; ++j) out[j] = bytes[j - i];
}

void SplitPixels3(const uint8_t* in, uint8_t* a, uint8_t* b, uint8_t* c, size_t n) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> va;
    hn::Vec<decltype(d)> vb;
    hn::Vec<decltype(d)> vc;
    hn::LoadInterleaved3(d, in + 3 * i, va, vb, vc);
    hn::StoreU(va, d, a + i);
    hn::StoreU(vb, d, b + i);
    hn::StoreU(vc, d, c + i);
  }
  for (; i < n; ++i) {
    a[i] = in[3 * i];
    b[i] = in[3 * i + 1];
    c[i] = in[3 * i + 2];
  }
}

}  // namespace thalweg::data::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::data {

HWY_EXPORT(BlendRowsU8);
HWY_EXPORT(BlendRowsF32);
HWY_EXPORT(BlendPixels3);
HWY_EXPORT(RoundToU8);
HWY_EXPORT(SplitPixels3);

void blend_rows(const uint8_t* const* rows, const float* weights, size_t taps, float* out,
                size_t n) {
  HWY_DYNAMIC_DISPATCH(BlendRowsU8)(rows, weights, taps, out, n);
}
void blend_rows(const float* const* rows, const float* weights, size_t taps, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(BlendRowsF32)(rows, weights, taps, out, n);
}
void blend_pixels3(const float* in, const int32_t* first, const float* weights, size_t taps,
                   float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(BlendPixels3)(in, first, weights, taps, out, n);
}
void round_to_u8(const float* in, uint8_t* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(RoundToU8)(in, out, n);
}
void split_pixels3(const uint8_t* in, uint8_t* a, uint8_t* b, uint8_t* c, size_t n) {
  HWY_DYNAMIC_DISPATCH(SplitPixels3)(in, a, b, c, n);
}

}  // namespace thalweg::data
#endif
