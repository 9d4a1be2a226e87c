#include "kernels/conv/columns.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/columns.cpp"
// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::conv::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Whole vectors, in the order of the memory written: what a run writes too much, the next one
// overwrites.
template <class D>
HWY_INLINE void copy_runs(D d, const uint8_t* from, int64_t step, std::span<const int64_t> offsets,
                          size_t bytes, int64_t count, uint8_t* to) {
  const size_t lanes = hn::Lanes(d);
  for (int64_t i = 0; i < count; ++i, from += step) {
    for (const int64_t offset : offsets) {
      const uint8_t* run = from + offset;
      for (size_t b = 0; b < bytes; b += lanes) hn::StoreU(hn::LoadU(d, run + b), d, to + b);
      to += bytes;
    }
  }
}

void patches(const uint8_t* from, int64_t step, std::span<const int64_t> offsets, size_t bytes,
             int64_t count, uint8_t* to) {
  if (bytes <= 16)
    copy_runs(hn::CappedTag<uint8_t, 16>(), from, step, offsets, bytes, count, to);
  else if (bytes <= 32)
    copy_runs(hn::CappedTag<uint8_t, 32>(), from, step, offsets, bytes, count, to);
  else
    copy_runs(hn::CappedTag<uint8_t, kSlack>(), from, step, offsets, bytes, count, to);
}

// Four sums at a time, so that none waits for the one before.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> sum_at(D d, const PatchSums<T>& s, int64_t pixel, int64_t c) {
  const int64_t* const begin = s.offsets + s.first[pixel];
  const int64_t* const end = s.offsets + s.first[pixel + 1];
  hn::Vec<D> s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (const T* base : s.bases) {
    const T* const p = base + c;
    const int64_t* at = begin;
    for (; end - at >= 4; at += 4) {
      s0 = hn::Add(s0, hn::LoadU(d, p + at[0]));
      s1 = hn::Add(s1, hn::LoadU(d, p + at[1]));
      s2 = hn::Add(s2, hn::LoadU(d, p + at[2]));
      s3 = hn::Add(s3, hn::LoadU(d, p + at[3]));
    }
    if (at < end) s0 = hn::Add(s0, hn::LoadU(d, p + at[0]));
    if (end - at > 1) s1 = hn::Add(s1, hn::LoadU(d, p + at[1]));
    if (end - at > 2) s2 = hn::Add(s2, hn::LoadU(d, p + at[2]));
  }
  return hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void sum_by(D d, const PatchSums<T>& s) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t pixel = 0; pixel < s.count; ++pixel) {
    T* to = s.to + pixel * s.step;
    int64_t c = 0;
    for (; c + lanes <= s.n; c += lanes) {
      hn::Vec<D> sum = sum_at(d, s, pixel, c);
      if (s.start) sum = hn::Add(sum, hn::LoadU(d, s.start + c));
      hn::StoreU(sum, d, to + c);
    }
    if (c == s.n) continue;
    HWY_ALIGN T rest[hn::MaxLanes(D())];
    hn::Store(sum_at(d, s, pixel, c), d, rest);
    for (int64_t i = c; i < s.n; ++i) to[i] = s.start ? rest[i - c] + s.start[i] : rest[i - c];
  }
}

template <typename T>
HWY_INLINE void sum_any(const PatchSums<T>& s) {
  if (s.n * static_cast<int64_t>(sizeof(T)) <= 32)
    sum_by(hn::CappedTag<T, 32 / sizeof(T)>(), s);
  else
    sum_by(hn::CappedTag<T, kSlack / sizeof(T)>(), s);
}

void sum_f32(const PatchSums<float>& s) { sum_any(s); }
void sum_f64(const PatchSums<double>& s) { sum_any(s); }

}  // namespace
}  // namespace thalweg::conv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::conv {

HWY_EXPORT(patches);
HWY_EXPORT(sum_f32);
HWY_EXPORT(sum_f64);

void copy_patches(const std::byte* from, int64_t step, std::span<const int64_t> offsets,
                  int64_t bytes, int64_t count, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(patches)
  (reinterpret_cast<const uint8_t*>(from), step, offsets, static_cast<size_t>(bytes), count,
   reinterpret_cast<uint8_t*>(to));
}

void sum_patches(const PatchSums<float>& sums) { HWY_DYNAMIC_DISPATCH(sum_f32)(sums); }
void sum_patches(const PatchSums<double>& sums) { HWY_DYNAMIC_DISPATCH(sum_f64)(sums); }

}  // namespace thalweg::conv
#endif
