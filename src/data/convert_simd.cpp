#include "data/convert_simd.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/convert_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace thalweg::data::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A scale in two floats, high + low: fma(x, high, fma(x, low, shift)) rounds once where it counts.
void U8ToF32(const uint8_t* in, float* out, size_t n, double scale, double shift) {
  const float high = static_cast<float>(scale);
  const float low = static_cast<float>(scale - static_cast<double>(high));
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto v_high = hn::Set(d, high);
  const auto v_low = hn::Set(d, low);
  const auto v_shift = hn::Set(d, static_cast<float>(shift));
  const auto convert = [&](auto bytes) {
    const auto x = hn::ConvertTo(d, hn::PromoteTo(d32, bytes));
    return hn::MulAdd(x, v_high, hn::MulAdd(x, v_low, v_shift));
  };
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(convert(hn::LoadU(d8, in + i)), d, out + i);
  if (i == n) return;
  HWY_ALIGN uint8_t rest[hn::MaxLanes(d)] = {};
  HWY_ALIGN float values[hn::MaxLanes(d)];
  for (size_t j = i; j < n; ++j) rest[j - i] = in[j];
  hn::Store(convert(hn::LoadU(d8, rest)), d, values);
  for (size_t j = i; j < n; ++j) out[j] = values[j - i];
}

void F32ToF32(const float* in, float* out, size_t n, double scale, double shift) {
  const hn::ScalableTag<float> d;
  const auto v_scale = hn::Set(d, static_cast<float>(scale));
  const auto v_shift = hn::Set(d, static_cast<float>(shift));
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::MulAdd(hn::LoadU(d, in + i), v_scale, v_shift), d, out + i);
  if (i == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (size_t j = i; j < n; ++j) rest[j - i] = in[j];
  hn::Store(hn::MulAdd(hn::Load(d, rest), v_scale, v_shift), d, rest);
  for (size_t j = i; j < n; ++j) out[j] = rest[j - i];
}

}  // namespace thalweg::data::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::data {

HWY_EXPORT(U8ToF32);
HWY_EXPORT(F32ToF32);

void convert_u8_to_f32(const void* in, void* out, size_t n, double scale, double shift) {
  HWY_DYNAMIC_DISPATCH(U8ToF32)
  (static_cast<const uint8_t*>(in), static_cast<float*>(out), n, scale, shift);
}

void convert_f32_to_f32(const void* in, void* out, size_t n, double scale, double shift) {
  HWY_DYNAMIC_DISPATCH(F32ToF32)
  (static_cast<const float*>(in), static_cast<float*>(out), n, scale, shift);
}

}  // namespace thalweg::data
#endif
