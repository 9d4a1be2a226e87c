#include "kernels/simd/norm_rows.h"

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/norm_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/fold-inl.h"
#include "kernels/simd/walk-inl.h"
// clang-format on

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

using simd::LayerParameters;
using simd::NormParameters;

// --- moments ---

constexpr int64_t kBlockRows = 32;   // of columns, before they are joined in f64
constexpr int64_t kBlockRun = 4096;  // of a run: it stays in the first cache for the second pass

// Columns [j, j + count) of at most kBlockRows rows, whose statistics join those of `before` rows.
template <typename T>
HWY_INLINE void join_block(const T* x, int64_t rows, int64_t n, int64_t j, size_t count,
                           int64_t before, double* mean, double* squares) {
  using C = Compute<T>;
  Simd<C> sum(0);
  for (int64_t r = 0; r < rows; ++r) sum = sum + load_count(x + r * n + j, count);
  const Simd<C> center = sum * (1.0 / static_cast<double>(rows));
  Simd<C> square(0);
  for (int64_t r = 0; r < rows; ++r) {
    const Simd<C> distance = load_count(x + r * n + j, count) - center;
    square = square + distance * distance;
  }
  HWY_ALIGN C means[hn::MaxLanes(hn::ScalableTag<C>())];
  HWY_ALIGN C sums[hn::MaxLanes(hn::ScalableTag<C>())];
  hn::Store(center.v, hn::ScalableTag<C>(), means);
  hn::Store(square.v, hn::ScalableTag<C>(), sums);
  for (size_t k = 0; k < count; ++k) {
    simd::join_moments(mean[j + static_cast<int64_t>(k)], squares[j + static_cast<int64_t>(k)],
                       static_cast<double>(before), means[k], sums[k], static_cast<double>(rows));
  }
}

template <typename T>
void column_moments(const void* data, int64_t rows, int64_t n, double* mean, double* squares) {
  const T* x = static_cast<const T*>(data);
  std::fill_n(mean, n, 0.0);
  std::fill_n(squares, n, 0.0);
  for (int64_t r = 0; r < rows; r += kBlockRows) {
    for_each_vector<Compute<T>>(n, [&](int64_t j, size_t count) HWY_ATTR {
      join_block(x + r * n, std::min(kBlockRows, rows - r), n, j, count, r, mean, squares);
    });
  }
}

template <typename T>
HWY_INLINE void moments_of(const T* x, int64_t n, double* mean, double* squares) {
  using C = Compute<T>;
  *mean = *squares = 0;
  for (int64_t i = 0; i < n; i += kBlockRun) {
    const int64_t count = std::min(kBlockRun, n - i);
    const double center = fold_run<SumFold>(x + i, count) / static_cast<double>(count);
    const Simd<C> offset(center);
    const double square = fold_run<SumFold>(x + i, count, [&](Simd<C> v) HWY_ATTR {
      const Simd<C> distance = v - offset;
      return distance * distance;
    });
    simd::join_moments(*mean, *squares, static_cast<double>(i), center, square,
                       static_cast<double>(count));
  }
}

template <typename T>
void run_moments(const void* x, int64_t n, double* mean, double* squares) {
  moments_of(static_cast<const T*>(x), n, mean, squares);
}

// --- by given statistics ---

// A parameter at element j of a row.
template <typename C, bool kRepeated>
HWY_INLINE Simd<C> at(const void* parameter, int64_t j, size_t count) {
  const C* p = static_cast<const C*>(parameter);
  if constexpr (kRepeated)
    return Simd<C>(*p);
  else
    return load_count(p + j, count);
}

template <typename T, bool kRepeated>
HWY_INLINE void apply_rows(const T* x, T* y, int64_t rows, int64_t n, const NormParameters& p) {
  using C = Compute<T>;
  for_each_vector<C>(n, [&](int64_t j, size_t count) HWY_ATTR {
    const Simd<C> mean = at<C, kRepeated>(p.mean, j, count);
    const Simd<C> scale = at<C, kRepeated>(p.scale, j, count);
    const Simd<C> bias = at<C, kRepeated>(p.bias, j, count);
    for (int64_t r = 0; r < rows; ++r) {
      const Simd<C> v = load_count(x + r * n + j, count);
      store_count((v - mean) * scale + bias, y + r * n + j, count);
    }
  });
}

// Blocks of rows, so that what is read for one vector of columns is there for the next.
constexpr int64_t kRowsAtATime = 16;

template <typename T>
void apply(const void* x, void* y, int64_t rows, int64_t n, const NormParameters& p) {
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  for (int64_t r = 0; r < rows; r += kRowsAtATime) {
    const int64_t count = std::min(kRowsAtATime, rows - r);
    if (p.repeated)
      apply_rows<T, true>(in + r * n, out + r * n, count, n, p);
    else
      apply_rows<T, false>(in + r * n, out + r * n, count, n, p);
  }
}

template <typename C>
HWY_INLINE void add_columns(Simd<C> x, double* sums, size_t count) {
  HWY_ALIGN C lanes[hn::MaxLanes(hn::ScalableTag<C>())];
  hn::Store(x.v, hn::ScalableTag<C>(), lanes);
  for (size_t i = 0; i < count; ++i) sums[i] += lanes[i];
}

template <typename T>
HWY_INLINE void run_gradient_sums(const T* g, const T* x, int64_t n, const NormParameters& p,
                                  double* sum, double* product) {
  using C = Compute<T>;
  const Simd<C> mean = at<C, true>(p.mean, 0, 0), rate = at<C, true>(p.rate, 0, 0);
  WideAccumulator<SumFold, C> sums, products;
  for_each_vector<C>(n, [&](int64_t j, size_t count) HWY_ATTR {
    const Simd<C> grad = load_count(g + j, count);
    sums.add(grad);
    products.add(grad * ((load_count(x + j, count) - mean) * rate));
  });
  *sum += sums.across();
  *product += products.across();
}

template <typename T>
void gradient_sums(const void* grad, const void* data, int64_t rows, int64_t n,
                   const NormParameters& p, double* sums, double* products) {
  using C = Compute<T>;
  const T *g = static_cast<const T*>(grad), *x = static_cast<const T*>(data);
  if (p.repeated) return run_gradient_sums(g, x, rows * n, p, sums, products);
  for (int64_t first = 0; first < rows; first += kRowsAtATime) {
    const int64_t last = std::min(rows, first + kRowsAtATime);
    for_each_vector<C>(n, [&](int64_t j, size_t count) HWY_ATTR {
      const Simd<C> mean = at<C, false>(p.mean, j, count), rate = at<C, false>(p.rate, j, count);
      Simd<C> sum(0), product(0);
      for (int64_t r = first; r < last; ++r) {
        const Simd<C> v = load_count(g + r * n + j, count);
        sum = sum + v;
        product = product + v * (load_count(x + r * n + j, count) - mean);
      }
      add_columns(sum, sums + j, count);
      add_columns(product * rate, products + j, count);
    });
  }
}

template <typename T, bool kRepeated>
HWY_INLINE void gradient_rows(const T* g, const T* x, T* dx, int64_t rows, int64_t n,
                              const NormParameters& p) {
  using C = Compute<T>;
  for_each_vector<C>(n, [&](int64_t j, size_t count) HWY_ATTR {
    const Simd<C> mean = at<C, kRepeated>(p.mean, j, count);
    const Simd<C> scale = at<C, kRepeated>(p.scale, j, count);
    const Simd<C> mean_gradient = at<C, kRepeated>(p.mean_gradient, j, count);
    const Simd<C> slope =
        at<C, kRepeated>(p.rate, j, count) * at<C, kRepeated>(p.mean_product, j, count);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t i = r * n + j;
      const Simd<C> distance = load_count(x + i, count) - mean;
      const Simd<C> centered = load_count(g + i, count) - mean_gradient;
      store_count(scale * (centered - distance * slope), dx + i, count);
    }
  });
}

template <typename T>
void gradient(const void* grad, const void* x, void* dx, int64_t rows, int64_t n,
              const NormParameters& p) {
  for (int64_t r = 0; r < rows; r += kRowsAtATime) {
    const int64_t count = std::min(kRowsAtATime, rows - r), at = r * n;
    const T *g = static_cast<const T*>(grad) + at, *in = static_cast<const T*>(x) + at;
    T* out = static_cast<T*>(dx) + at;
    if (p.repeated)
      gradient_rows<T, true>(g, in, out, count, n, p);
    else
      gradient_rows<T, false>(g, in, out, count, n, p);
  }
}

// --- layer norm ---

struct RowStatistics {
  double mean;
  double rate;
};

template <typename T>
HWY_INLINE RowStatistics row_statistics(const T* x, int64_t n, const LayerParameters& p) {
  using C = Compute<T>;
  double mean = 0, squares;
  if (p.centered)
    moments_of(x, n, &mean, &squares);
  else
    squares = fold_run<SumFold>(x, n, [](Simd<C> v) HWY_ATTR { return v * v; });
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) + p.epsilon)};
}

template <typename C>
HWY_INLINE Simd<C> weight_at(const LayerParameters& p, int64_t j, size_t count) {
  return p.weight ? load_count(static_cast<const C*>(p.weight) + j, count) : Simd<C>(1);
}

template <typename T>
void layer(const void* data, void* result, int64_t rows, int64_t n, const LayerParameters& p) {
  using C = Compute<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = static_cast<const T*>(data) + r * n;
    T* y = static_cast<T*>(result) + r * n;
    const RowStatistics s = row_statistics(x, n, p);
    const Simd<C> mean(s.mean), rate(s.rate);
    for_each_vector<C>(n, [&](int64_t j, size_t count) HWY_ATTR {
      Simd<C> v = (load_count(x + j, count) - mean) * rate * weight_at<C>(p, j, count);
      if (p.bias) v = v + load_count(static_cast<const C*>(p.bias) + j, count);
      store_count(v, y + j, count);
    });
  }
}

template <typename C>
HWY_INLINE void add_wide(Simd<C> x, double* sums, size_t count) {
  const hn::ScalableTag<double> d;
  if (count < hn::Lanes(hn::ScalableTag<C>())) return add_columns(x, sums, count);
  const auto add = [&](Simd<double> wide, double* sum)
                       HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, sum), wide.v), d, sum); };
  if constexpr (sizeof(C) == 8) {
    add(x, sums);
  } else {
    add(lower_half(x), sums);
    add(upper_half(x), sums + hn::Lanes(d));
  }
}

template <typename T>
void layer_gradient(const void* grad, const void* data, void* result, int64_t rows, int64_t n,
                    const LayerParameters& p, double* dweight, double* dbias) {
  using C = Compute<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T *g = static_cast<const T*>(grad) + r * n, *x = static_cast<const T*>(data) + r * n;
    T* dx = static_cast<T*>(result) + r * n;
    const RowStatistics s = row_statistics(x, n, p);
    const Simd<C> mean(s.mean), rate(s.rate);
    WideAccumulator<SumFold, C> sums, products;
    for_each_vector<C>(n, [&](int64_t j, size_t count) HWY_ATTR {
      // Beyond the row's end the gradient is 0.
      const Simd<C> v = load_count(g + j, count);
      const Simd<C> normal = (load_count(x + j, count) - mean) * rate;
      add_wide(v, dbias + j, count);
      add_wide(v * normal, dweight + j, count);
      const Simd<C> weighted = v * weight_at<C>(p, j, count);
      sums.add(weighted);
      products.add(weighted * normal);
    });
    const double length = static_cast<double>(n);
    const Simd<C> mean_gradient(p.centered ? sums.across() / length : 0);
    const Simd<C> mean_product(products.across() / length);
    for_each_vector<C>(n, [&](int64_t j, size_t count) HWY_ATTR {
      const Simd<C> normal = (load_count(x + j, count) - mean) * rate;
      const Simd<C> weighted = load_count(g + j, count) * weight_at<C>(p, j, count);
      store_count(rate * (weighted - mean_gradient - normal * mean_product), dx + j, count);
    });
  }
}

template <typename T>
constexpr simd::NormFns fns = {column_moments<T>, run_moments<T>, apply<T>,
                               gradient_sums<T>,  gradient<T>,    layer<T>,
                               layer_gradient<T>};

void fill(simd::NormTable& table) {
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

void simd::fill_norms(NormTable& table) { HWY_DYNAMIC_DISPATCH(fill)(table); }
}  // namespace thalweg
#endif
