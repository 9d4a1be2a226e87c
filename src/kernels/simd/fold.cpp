#include "kernels/simd/fold.h"

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/fold.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/fold-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

template <typename Fold, typename T>
void fold_runs(const char* p, int64_t row_bytes, int64_t rows, int64_t n, double* results) {
  for (int64_t r = 0; r < rows; ++r, p += row_bytes) {
    results[r] = Fold::join(results[r], fold_run<Fold>(reinterpret_cast<const T*>(p), n));
  }
}

// Rows that a lane takes before it is widened to f64.
constexpr int64_t kRowBlock = 16;

template <typename Fold, typename C>
HWY_INLINE void join_columns(Simd<C> x, double* results) {
  const hn::ScalableTag<double> d;
  const auto join = [&](Simd<double> wide, double* result) HWY_ATTR {
    hn::StoreU(Fold::step(Simd<double>(hn::LoadU(d, result)), wide).v, d, result);
  };
  if constexpr (sizeof(C) == 8) {
    join(x, results);
  } else {
    join(lower_half(x), results);
    join(upper_half(x), results + hn::Lanes(d));
  }
}

template <typename Fold, typename C>
HWY_INLINE void join_first_columns(Simd<C> x, double* results, int64_t n) {
  HWY_ALIGN C lanes[hn::MaxLanes(hn::ScalableTag<C>())];
  hn::Store(x.v, hn::ScalableTag<C>(), lanes);
  for (int64_t i = 0; i < n; ++i) results[i] = Fold::join(results[i], lanes[i]);
}

// At most kRowBlock rows, into one lane a column.
template <typename Fold, typename T>
void fold_columns_block(const char* p, int64_t row_bytes, int64_t rows, int64_t cols,
                        double* results) {
  using C = Compute<T>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<C>()));
  const auto row = [&](int64_t r, int64_t j)
                       HWY_ATTR { return reinterpret_cast<const T*>(p + r * row_bytes) + j; };
  int64_t j = 0;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    Simd<C> a = Memory<T>::load(row(0, j)), b = Memory<T>::load(row(0, j) + lanes);
    Simd<C> c = Memory<T>::load(row(0, j) + 2 * lanes), d = Memory<T>::load(row(0, j) + 3 * lanes);
    for (int64_t r = 1; r < rows; ++r) {
      const T* q = row(r, j);
      a = Fold::step(a, Memory<T>::load(q));
      b = Fold::step(b, Memory<T>::load(q + lanes));
      c = Fold::step(c, Memory<T>::load(q + 2 * lanes));
      d = Fold::step(d, Memory<T>::load(q + 3 * lanes));
    }
    join_columns<Fold>(a, results + j);
    join_columns<Fold>(b, results + j + lanes);
    join_columns<Fold>(c, results + j + 2 * lanes);
    join_columns<Fold>(d, results + j + 3 * lanes);
  }
  for (; j + lanes <= cols; j += lanes) {
    Simd<C> a = Memory<T>::load(row(0, j));
    for (int64_t r = 1; r < rows; ++r) a = Fold::step(a, Memory<T>::load(row(r, j)));
    join_columns<Fold>(a, results + j);
  }
  if (j == cols) return;
  const size_t left = static_cast<size_t>(cols - j);
  Simd<C> a = Memory<T>::load_first(row(0, j), left);
  for (int64_t r = 1; r < rows; ++r) a = Fold::step(a, Memory<T>::load_first(row(r, j), left));
  join_first_columns<Fold>(a, results + j, cols - j);
}

template <typename Fold, typename T>
void fold_columns(const char* p, int64_t row_bytes, int64_t rows, int64_t cols, double* results) {
  for (int64_t r = 0; r < rows; r += kRowBlock) {
    const int64_t n = rows - r < kRowBlock ? rows - r : kRowBlock;
    fold_columns_block<Fold, T>(p + r * row_bytes, row_bytes, n, cols, results);
  }
}

// The squares are made and summed in f64: those of large f32 have no f32.
template <typename T>
double squares_run(const T* p, int64_t n) {
  using C = Compute<T>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<C>()));
  Simd<double> low(0), high(0);
  const auto add = [&](Simd<C> x) HWY_ATTR {
    if constexpr (sizeof(C) == 8) {
      low = low + x * x;
    } else {
      low = low + lower_half(x) * lower_half(x);
      high = high + upper_half(x) * upper_half(x);
    }
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) add(Memory<T>::load(p + i));
  if (i < n) add(Memory<T>::load_first(p + i, static_cast<size_t>(n - i)));
  return SumFold::across(low + high);
}

template <typename T>
void squares_runs(const char* p, int64_t row_bytes, int64_t rows, int64_t n, double* results) {
  for (int64_t r = 0; r < rows; ++r, p += row_bytes) {
    results[r] += squares_run(reinterpret_cast<const T*>(p), n);
  }
}

template <typename Fold, typename T>
void positions(const char* p, int64_t row_bytes, int64_t rows, int64_t n, int64_t* result) {
  using C = Compute<T>;
  const hn::ScalableTag<C> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r, p += row_bytes) {
    const T* x = reinterpret_cast<const T*>(p);
    const C best = static_cast<C>(fold_run<Fold>(x, n));
    const auto found = [&](Simd<C> v) HWY_ATTR {
      return hn::FindFirstTrue(d, best == best ? (v == best).m : (v != v).m);
    };
    int64_t i = 0, at = -1;
    for (; at < 0 && i + lanes <= n; i += lanes) {
      at = found(Memory<T>::load(x + i));
      if (at >= 0) at += i;
    }
    result[r] = at >= 0 ? at : i + found(Memory<T>::load_first(x + i, static_cast<size_t>(n - i)));
  }
}

template <typename Fold, typename T>
constexpr simd::FoldFns fold = {Fold::kInit, Fold::join, fold_runs<Fold, T>, fold_columns<Fold, T>};
template <typename T>
constexpr simd::FoldFns squares = {0, SumFold::join, squares_runs<T>, nullptr};

template <typename T>
void fill_dtype(simd::FoldTable& table) {
  const int dtype = static_cast<int>(dtype_of<T>);
  table.sum[dtype] = fold<SumFold, T>;
  table.squares[dtype] = squares<T>;
  table.max[dtype] = fold<MaxFold, T>;
  table.min[dtype] = fold<MinFold, T>;
  table.argmax[dtype] = positions<MaxFold, T>;
  table.argmin[dtype] = positions<MinFold, T>;
}

void fill(simd::FoldTable& table) {
  fill_dtype<float>(table);
  fill_dtype<double>(table);
  fill_dtype<Float16>(table);
  fill_dtype<BFloat16>(table);
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill);

void simd::fill_folds(FoldTable& table) { HWY_DYNAMIC_DISPATCH(fill)(table); }
}  // namespace thalweg
#endif
