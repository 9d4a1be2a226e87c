// Our own innermost product, compiled for each instruction set: 4 rows by 2 vectors of columns stay
// in registers while the sum runs.

#include "kernels/gemm/micro_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/own_micro_kernel.cpp"
// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::gemm::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums of one row and one or two vectors of columns. Named, not an array: vectors of some targets
// have no size.
template <class D, bool kTwo>
struct Row {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  V left, right;

  HWY_INLINE Row() : left(hn::Zero(D())), right(hn::Zero(D())) {}
  HWY_INLINE void add(T a, V b_left, V b_right) {
    const V factor = hn::Set(D(), a);
    left = hn::MulAdd(factor, b_left, left);
    if constexpr (kTwo) right = hn::MulAdd(factor, b_right, right);
  }
  HWY_INLINE void store(T* c, bool adds) const {
    store_vector(left, c, adds);
    if constexpr (kTwo) store_vector(right, c + hn::Lanes(D()), adds);
  }
  static HWY_INLINE void store_vector(V sum, T* c, bool adds) {
    hn::StoreU(adds ? hn::Add(sum, hn::LoadU(D(), c)) : sum, D(), c);
  }
};

// Distance in A from one row to the next, and from one term of the sum to the next.
struct Steps {
  size_t row, term;
};

template <class D, bool kTwo, int kRows, typename T = hn::TFromD<D>>
HWY_INLINE void block(const MicroShape& s, Steps step, const T* a, const T* b, T* c) {
  Row<D, kTwo> r0, r1, r2, r3;
  for (size_t k = 0; k < static_cast<size_t>(s.k); ++k, b += s.ldb, a += step.term) {
    const hn::Vec<D> left = hn::LoadU(D(), b);
    const hn::Vec<D> right = kTwo ? hn::LoadU(D(), b + hn::Lanes(D())) : left;
    r0.add(a[0], left, right);
    if constexpr (kRows > 1) r1.add(a[step.row], left, right);
    if constexpr (kRows > 2) r2.add(a[2 * step.row], left, right);
    if constexpr (kRows > 3) r3.add(a[3 * step.row], left, right);
  }
  r0.store(c, s.adds);
  if constexpr (kRows > 1) r1.store(c + s.ldc, s.adds);
  if constexpr (kRows > 2) r2.store(c + 2 * static_cast<size_t>(s.ldc), s.adds);
  if constexpr (kRows > 3) r3.store(c + 3 * static_cast<size_t>(s.ldc), s.adds);
}

template <class D, bool kTwo, typename T = hn::TFromD<D>>
void block_of_columns(const MicroShape& s, const T* a, const T* b, T* c) {
  const size_t m = static_cast<size_t>(s.m), lda = static_cast<size_t>(s.lda);
  const Steps step = s.a_transposed ? Steps{1, lda} : Steps{lda, 1};
  size_t i = 0;
  for (; i + 4 <= m; i += 4) block<D, kTwo, 4>(s, step, a + i * step.row, b, c + i * s.ldc);
  for (; i < m; ++i) block<D, kTwo, 1>(s, step, a + i * step.row, b, c + i * s.ldc);
}

// The columns from j that whole vectors of D cover; returns the first that is left.
template <class D, typename T = hn::TFromD<D>>
size_t columns(const MicroShape& s, size_t j, const T* a, const T* b, T* c) {
  const size_t n = static_cast<size_t>(s.n), lanes = hn::Lanes(D());
  for (; j + 2 * lanes <= n; j += 2 * lanes) block_of_columns<D, true>(s, a, b + j, c + j);
  for (; j + lanes <= n; j += lanes) block_of_columns<D, false>(s, a, b + j, c + j);
  return j;
}

template <typename T>
void product(const MicroShape& s, const T* a, const T* b, T* c) {
  size_t j = columns<hn::ScalableTag<T>>(s, 0, a, b, c);
  j = columns<hn::CappedTag<T, 32 / sizeof(T)>>(s, j, a, b, c);
  j = columns<hn::CappedTag<T, 16 / sizeof(T)>>(s, j, a, b, c);
  columns<hn::CappedTag<T, 1>>(s, j, a, b, c);
}

void product_f32(const MicroShape& s, const float* a, const float* b, float* c) {
  product(s, a, b, c);
}
void product_f64(const MicroShape& s, const double* a, const double* b, double* c) {
  product(s, a, b, c);
}

}  // namespace
}  // namespace thalweg::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::gemm {

HWY_EXPORT(product_f32);
HWY_EXPORT(product_f64);

void own_micro_kernel(const MicroShape& shape, const float* a, const float* b, float* c) {
  HWY_DYNAMIC_DISPATCH(product_f32)(shape, a, b, c);
}
void own_micro_kernel(const MicroShape& shape, const double* a, const double* b, double* c) {
  HWY_DYNAMIC_DISPATCH(product_f64)(shape, a, b, c);
}

}  // namespace thalweg::gemm
#endif
