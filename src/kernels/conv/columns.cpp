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

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void add_by(D d, const PatchSums<T>& s) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t pixel = 0; pixel < s.count; ++pixel) {
    T* const to = s.to + pixel * s.pitch;
    const int64_t* const begin = s.offsets + s.first[pixel];
    const int64_t* const end = s.offsets + s.first[pixel + 1];
    for (int64_t c = 0; c < s.pitch; c += lanes) {
      hn::Vec<D> sum = hn::Load(d, to + c);
      for (const int64_t* at = begin; at < end; ++at) {
        sum = hn::Add(sum, hn::LoadU(d, s.from + *at + c));
      }
      hn::Store(sum, d, to + c);
    }
  }
}

template <typename T>
HWY_INLINE void add_any(const PatchSums<T>& s) {
  const hn::CappedTag<T, 64 / sizeof(T)> wide;
  if (s.pitch % static_cast<int64_t>(hn::Lanes(wide)) == 0)
    add_by(wide, s);
  else
    add_by(hn::CappedTag<T, 32 / sizeof(T)>(), s);
}

void add_f32(const PatchSums<float>& s) { add_any(s); }
void add_f64(const PatchSums<double>& s) { add_any(s); }

}  // namespace
}  // namespace thalweg::conv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::conv {

HWY_EXPORT(patches);
HWY_EXPORT(add_f32);
HWY_EXPORT(add_f64);

void copy_patches(const std::byte* from, int64_t step, std::span<const int64_t> offsets,
                  int64_t bytes, int64_t count, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(patches)
  (reinterpret_cast<const uint8_t*>(from), step, offsets, static_cast<size_t>(bytes), count,
   reinterpret_cast<uint8_t*>(to));
}

void add_patches(const PatchSums<float>& sums) { HWY_DYNAMIC_DISPATCH(add_f32)(sums); }
void add_patches(const PatchSums<double>& sums) { HWY_DYNAMIC_DISPATCH(add_f64)(sums); }

}  // namespace thalweg::conv
#endif
