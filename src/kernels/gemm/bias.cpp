#include "kernels/gemm/bias.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/bias.cpp"
// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::gemm::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void add_row(const float* bias, int64_t rows, int64_t columns, float* c, int64_t ldc) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = columns - columns % lanes;
  for (int64_t i = 0; i < rows; ++i, c += ldc) {
    for (int64_t j = 0; j < whole; j += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, c + j), hn::LoadU(d, bias + j)), d, c + j);
    for (int64_t j = whole; j < columns; ++j) c[j] += bias[j];
  }
}

}  // namespace
}  // namespace thalweg::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::gemm {
namespace {

HWY_EXPORT(add_row);

template <typename T>
void add_any(const T* bias, int64_t stride, int64_t rows, int64_t columns, T* c, int64_t ldc) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) c[i * ldc + j] += bias[j * stride];
  }
}

}  // namespace

void add_bias(const float* bias, int64_t stride, int64_t rows, int64_t columns, float* c,
              int64_t ldc) {
  if (stride == 1) return HWY_DYNAMIC_DISPATCH(add_row)(bias, rows, columns, c, ldc);
  add_any(bias, stride, rows, columns, c, ldc);
}

void add_bias(const double* bias, int64_t stride, int64_t rows, int64_t columns, double* c,
              int64_t ldc) {
  add_any(bias, stride, rows, columns, c, ldc);
}

}  // namespace thalweg::gemm
#endif
