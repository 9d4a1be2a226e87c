#include "kernels/simd/softmax_rows.h"

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/softmax_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/fold-inl.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/walk-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

using simd::SoftmaxScale;

template <typename T>
HWY_INLINE SoftmaxScale scale_of(const T* x, int64_t n) {
  using C = Compute<T>;
  const double largest = fold_run<MaxFold>(x, n);
  if (largest == MaxFold::kInit) return {largest, 0};
  const Simd<C> offset(largest);
  const double sum =
      fold_run<SumFold>(x, n, [&](Simd<C> v) HWY_ATTR { return num::exp(v - offset); });
  return {largest, sum};
}

template <typename T>
HWY_INLINE SoftmaxScale affine_row(const T* x, T* y, int64_t n, double factor, double offset) {
  using C = Compute<T>;
  const SoftmaxScale scale = scale_of(x, n);
  // A row of -inf has no shares: all are 0.
  const Simd<C> largest(scale.sum == 0 ? 0 : scale.largest);
  const Simd<C> rate(scale.sum == 0 ? 0 : factor / scale.sum), added(offset);
  for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
    store_count(num::exp(load_count(x + i, count) - largest) * rate + added, y + i, count);
  });
  return scale;
}

template <typename T>
SoftmaxScale scale(const void* x, int64_t n) {
  return scale_of(static_cast<const T*>(x), n);
}

template <typename T>
SoftmaxScale affine(const void* x, void* y, int64_t n, double factor, double offset) {
  return affine_row(static_cast<const T*>(x), static_cast<T*>(y), n, factor, offset);
}

template <typename T>
void softmax(const void* x, void* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    affine_row(static_cast<const T*>(x) + r * n, static_cast<T*>(y) + r * n, n, 1, 0);
  }
}

template <typename T>
void log_softmax(const void* x, void* y, int64_t rows, int64_t n) {
  using C = Compute<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T* in = static_cast<const T*>(x) + r * n;
    T* out = static_cast<T*>(y) + r * n;
    const SoftmaxScale s = scale_of(in, n);
    const Simd<C> largest(s.sum == 0 ? 0 : s.largest), log_sum(s.sum == 0 ? 0 : std::log(s.sum));
    for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
      store_count(load_count(in + i, count) - largest - log_sum, out + i, count);
    });
  }
}

// The sum over f(a, b) of two rows.
template <typename T, typename F>
HWY_INLINE double sum_pairs(const T* a, const T* b, int64_t n, F&& f) {
  using C = Compute<T>;
  WideAccumulator<SumFold, C> total;
  for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
    total.add(f(load_count(a + i, count), load_count(b + i, count)));
  });
  return total.across();
}

template <typename T>
void softmax_vjp(const void* grad, const void* y, void* dx, int64_t rows, int64_t n) {
  using C = Compute<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T* g = static_cast<const T*>(grad) + r * n;
    const T* share = static_cast<const T*>(y) + r * n;
    T* out = static_cast<T*>(dx) + r * n;
    const Simd<C> total(
        sum_pairs(g, share, n, [](Simd<C> a, Simd<C> b) HWY_ATTR { return a * b; }));
    for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
      const Simd<C> s = load_count(share + i, count);
      store_count(s * (load_count(g + i, count) - total), out + i, count);
    });
  }
}

template <typename T>
void log_softmax_vjp(const void* grad, const void* y, void* dx, int64_t rows, int64_t n) {
  using C = Compute<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T* g = static_cast<const T*>(grad) + r * n;
    const T* log_share = static_cast<const T*>(y) + r * n;
    T* out = static_cast<T*>(dx) + r * n;
    const Simd<C> total(fold_run<SumFold>(g, n));
    for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
      const Simd<C> s = num::exp(load_count(log_share + i, count));
      store_count(load_count(g + i, count) - s * total, out + i, count);
    });
  }
}

template <typename T>
constexpr simd::SoftmaxFns fns = {softmax<T>,         log_softmax<T>, softmax_vjp<T>,
                                  log_softmax_vjp<T>, scale<T>,       affine<T>};

void fill(simd::SoftmaxTable& table) {
  table.by_dtype[static_cast<int>(DType::f32)] = fns<float>;
  table.by_dtype[static_cast<int>(DType::f64)] = fns<double>;
  table.by_dtype[static_cast<int>(DType::f16)] = fns<Float16>;
  table.by_dtype[static_cast<int>(DType::bf16)] = fns<BFloat16>;
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill);

void simd::fill_softmax(SoftmaxTable& table) { HWY_DYNAMIC_DISPATCH(fill)(table); }
}  // namespace thalweg
#endif
