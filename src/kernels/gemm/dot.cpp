// Products of a matrix and one vector along contiguous rows. Four rows at a time share the loads of
// the vector and hide each other's latency.

#include "kernels/gemm/dot.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/dot.cpp"
// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::gemm::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void put(T* out, T sum, bool adds) {
  *out = adds ? *out + sum : sum;
}

template <typename T>
HWY_INLINE void dot_4(const T* p, size_t step, const T* y, size_t n, T* out, size_t out_step,
                      bool adds) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    const auto v = hn::LoadU(d, y + k);
    s0 = hn::MulAdd(v, hn::LoadU(d, p + k), s0);
    s1 = hn::MulAdd(v, hn::LoadU(d, p + step + k), s1);
    s2 = hn::MulAdd(v, hn::LoadU(d, p + 2 * step + k), s2);
    s3 = hn::MulAdd(v, hn::LoadU(d, p + 3 * step + k), s3);
  }
  T r0 = hn::GetLane(hn::SumOfLanes(d, s0)), r1 = hn::GetLane(hn::SumOfLanes(d, s1));
  T r2 = hn::GetLane(hn::SumOfLanes(d, s2)), r3 = hn::GetLane(hn::SumOfLanes(d, s3));
  for (; k < n; ++k) {
    r0 += p[k] * y[k];
    r1 += p[step + k] * y[k];
    r2 += p[2 * step + k] * y[k];
    r3 += p[3 * step + k] * y[k];
  }
  put(out, r0, adds);
  put(out + out_step, r1, adds);
  put(out + 2 * out_step, r2, adds);
  put(out + 3 * out_step, r3, adds);
}

template <typename T>
HWY_INLINE void dot_1(const T* p, const T* y, size_t n, T* out, bool adds) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto s = hn::Zero(d);
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) s = hn::MulAdd(hn::LoadU(d, y + k), hn::LoadU(d, p + k), s);
  T r = hn::GetLane(hn::SumOfLanes(d, s));
  for (; k < n; ++k) r += p[k] * y[k];
  put(out, r, adds);
}

template <typename T>
HWY_INLINE void rows_by_vector(const T* p, size_t step, size_t count, const T* y, size_t n, T* out,
                               size_t out_step, bool adds) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    dot_4(p + i * step, step, y, n, out + i * out_step, out_step, adds);
  }
  for (; i < count; ++i) dot_1(p + i * step, y, n, out + i * out_step, adds);
}

void rows_f32(const float* p, size_t step, size_t count, const float* y, size_t n, float* out,
              size_t out_step, bool adds) {
  rows_by_vector(p, step, count, y, n, out, out_step, adds);
}
void rows_f64(const double* p, size_t step, size_t count, const double* y, size_t n, double* out,
              size_t out_step, bool adds) {
  rows_by_vector(p, step, count, y, n, out, out_step, adds);
}

}  // namespace
}  // namespace thalweg::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::gemm {

HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);

void dot_rows(const float* rows, int64_t row_step, int64_t count, const float* y, int64_t n,
              float* out, int64_t out_step, bool adds) {
  HWY_DYNAMIC_DISPATCH(rows_f32)
  (rows, static_cast<size_t>(row_step), static_cast<size_t>(count), y, static_cast<size_t>(n), out,
   static_cast<size_t>(out_step), adds);
}
void dot_rows(const double* rows, int64_t row_step, int64_t count, const double* y, int64_t n,
              double* out, int64_t out_step, bool adds) {
  HWY_DYNAMIC_DISPATCH(rows_f64)
  (rows, static_cast<size_t>(row_step), static_cast<size_t>(count), y, static_cast<size_t>(n), out,
   static_cast<size_t>(out_step), adds);
}

}  // namespace thalweg::gemm
#endif
