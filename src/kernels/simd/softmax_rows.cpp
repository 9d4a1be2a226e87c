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

// What a softmax is made of: the largest logit, and the sum of exp(x - largest). A row of -inf
// alone has no shares: its sum is 0, and all of them are.
struct Scale {
  double largest;
  double sum;
};

// A row of no more elements than a vector has lanes; exponentials beyond its end are 0.
template <typename C>
struct ShortRow {
  Simd<C> exponentials, largest, sum;

  template <typename T>
  HWY_INLINE ShortRow(const T* x, int64_t n) : exponentials(0), largest(-num::kInf<C>), sum(0) {
    const hn::ScalableTag<C> d;
    const SimdMask<C> valid{hn::FirstN(d, static_cast<size_t>(n))};
    const Simd<C> v = select(valid, load_count(x, static_cast<size_t>(n)), largest);
    const bool has_nan = !hn::AllTrue(d, (v == v).m);
    largest = has_nan ? Simd<C>(num::kNan<C>) : Simd<C>(hn::MaxOfLanes(d, v.v));
    exponentials = num::exp(v - select(largest == -num::kInf<C>, 0, largest));
    sum = hn::SumOfLanes(d, exponentials.v);
  }
  HWY_INLINE Scale scale() const { return {hn::GetLane(largest.v), hn::GetLane(sum.v)}; }
  HWY_INLINE Simd<C> rate(double factor) const {
    return select(sum == 0, 0, Simd<C>(factor) / sum);
  }
};

template <typename C>
HWY_INLINE bool is_short(int64_t n) {
  return n <= static_cast<int64_t>(hn::Lanes(hn::ScalableTag<C>()));
}

template <typename T>
HWY_INLINE Scale scale_of(const T* x, int64_t n) {
  using C = Compute<T>;
  if (is_short<C>(n)) return ShortRow<C>(x, n).scale();
  const double largest = fold_run<MaxFold>(x, n);
  if (largest == MaxFold::kInit) return {largest, 0};
  const Simd<C> offset(largest);
  const double sum =
      fold_run<SumFold>(x, n, [&](Simd<C> v) HWY_ATTR { return num::exp(v - offset); });
  return {largest, sum};
}

// y = factor * softmax(x) + offset, for more elements than a vector has lanes.
template <typename T>
HWY_INLINE Scale long_row(const T* x, T* y, int64_t n, double factor, double offset) {
  using C = Compute<T>;
  const double largest = fold_run<MaxFold>(x, n);
  const Simd<C> taken(largest == MaxFold::kInit ? 0 : largest), added(offset);
  WideAccumulator<SumFold, C> total;
  for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
    const Simd<C> e = num::exp(load_count(x + i, count) - taken);
    const SimdMask<C> valid{hn::FirstN(hn::ScalableTag<C>(), count)};
    total.add(select(valid, e, Simd<C>(0)));
    // Exponentials that memory holds unrounded wait there for their sum.
    if constexpr (sizeof(T) == sizeof(C)) store_count(e, y + i, count);
  });
  const double sum = total.across();
  const Simd<C> rate(sum == 0 ? 0 : factor / sum);
  for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
    if constexpr (sizeof(T) == sizeof(C))
      store_count(load_count(y + i, count) * rate + added, y + i, count);
    else
      store_count(num::exp(load_count(x + i, count) - taken) * rate + added, y + i, count);
  });
  return {largest, sum};
}

template <typename T>
void softmax(const void* data, void* result, int64_t rows, int64_t n) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(data);
  T* y = static_cast<T*>(result);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    if (!is_short<C>(n)) {
      long_row(x, y, n, 1, 0);
      continue;
    }
    const ShortRow<C> row(x, n);
    store_count(row.exponentials * row.rate(1), y, static_cast<size_t>(n));
  }
}

template <typename T>
void log_softmax(const void* x, void* y, int64_t rows, int64_t n) {
  using C = Compute<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T* in = static_cast<const T*>(x) + r * n;
    T* out = static_cast<T*>(y) + r * n;
    const Scale s = scale_of(in, n);
    const Simd<C> largest(s.sum == 0 ? 0 : s.largest), log_sum(s.sum == 0 ? 0 : std::log(s.sum));
    for_each_vector<C>(n, [&](int64_t i, size_t count) HWY_ATTR {
      store_count(load_count(in + i, count) - largest - log_sum, out + i, count);
    });
  }
}

template <typename T>
void logsumexp(const void* x, int64_t rows, int64_t n, double* results) {
  constexpr int64_t kBlock = 64;
  const T* row = static_cast<const T*>(x);
  double largest[kBlock], sums[kBlock];
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t count = rows - first < kBlock ? rows - first : kBlock;
    for (int64_t r = 0; r < count; ++r, row += n) {
      const Scale s = scale_of(row, n);
      largest[r] = s.largest;
      sums[r] = s.sum;
    }
    for_each_vector<double>(count, [&](int64_t i, size_t lanes) HWY_ATTR {
      const Simd<double> l = load_count(largest + i, lanes);
      const Simd<double> y = l + num::log(load_count(sums + i, lanes));
      store_count(select(num::is_finite(l), y, l), results + first + i, lanes);
    });
  }
}

// The element at the label is made before it is rounded.
template <typename T>
void loss_gradient(const void* data, void* result, int64_t n, int64_t label, double factor,
                   double offset, double at_label) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(data);
  T* dx = static_cast<T*>(result);
  if (is_short<C>(n)) {
    const hn::ScalableTag<C> d;
    const ShortRow<C> row(x, n);
    const Simd<C> taken =
        select(Simd<C>(hn::Iota(d, C(0))) == label, static_cast<C>(at_label), Simd<C>(0));
    const Simd<C> y = row.exponentials * row.rate(factor) + (Simd<C>(offset) - taken);
    return store_count(y, dx, static_cast<size_t>(n));
  }
  const Scale s = long_row(x, dx, n, factor, offset);
  const double distance = static_cast<double>(static_cast<C>(x[label])) - s.largest;
  const double share = s.sum == 0 ? 0 : std::exp(distance) / s.sum;
  dx[label] = static_cast<T>(static_cast<C>(factor * share + offset - at_label));
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
                                  log_softmax_vjp<T>, logsumexp<T>,   loss_gradient<T>};

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
