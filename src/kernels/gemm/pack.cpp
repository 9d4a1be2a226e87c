// Row-major copies of operands. The one that must be fast is the transpose of f32 rows: a linear
// layer's weights, once per call.

#include "kernels/gemm/pack.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/pack.cpp"
// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::gemm::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Fours of floats from rows `step` apart, side by side in one vector.
template <class D>
HWY_INLINE hn::Vec<D> gather_fours(D d, const float* p, int64_t step) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, p);
  } else {
    const hn::Half<D> half;
    const int64_t rows = static_cast<int64_t>(hn::Lanes(half)) / 4;
    return hn::Combine(d, gather_fours(half, p + rows * step, step), gather_fours(half, p, step));
  }
}

// Four columns of as many rows as a vector has lanes: vector j of the transpose is column j. Rows
// are taken in four groups, so that after a 4 x 4 transpose in each 128-bit block they are in
// order.
template <class D>
HWY_INLINE void transpose_strip(D d, const float* from, int64_t step, float* to, int64_t ld) {
  const hn::Repartition<uint64_t, D> pairs;
  const auto r0 = gather_fours(d, from, 4 * step);
  const auto r1 = gather_fours(d, from + step, 4 * step);
  const auto r2 = gather_fours(d, from + 2 * step, 4 * step);
  const auto r3 = gather_fours(d, from + 3 * step, 4 * step);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + ld);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * ld);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * ld);
}

// Strips that would reach beyond the last row or column begin earlier instead, and write some
// elements twice.
template <class D>
HWY_INLINE void transpose_block(D d, const float* from, int64_t step, int64_t rows, int64_t columns,
                                float* to, int64_t ld) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < columns; i += lanes) {
    const int64_t column = std::min(i, columns - lanes);
    for (int64_t k = 0; k < rows; k += 4) {
      const int64_t row = std::min(k, rows - 4);
      transpose_strip(d, from + column * step + row, step, to + row * ld + column, ld);
    }
  }
}

// to[k * ld + i] = from[i * step + k] for i < columns, k < rows, at least 4 each. Some rows at a
// time, so that lines of `to` are written whole while they are in the first cache.
template <class D>
void transpose_by(D d, const float* from, int64_t step, int64_t rows, int64_t columns, float* to,
                  int64_t ld) {
  constexpr int64_t kRows = 32;
  for (int64_t k = 0; k < rows; k += kRows) {
    const int64_t row = std::min(k, std::max<int64_t>(rows - 4, 0));
    transpose_block(d, from + row, step, std::min(kRows, rows - row), columns, to + row * ld, ld);
  }
}

void transpose(const float* from, int64_t step, int64_t rows, int64_t columns, float* to,
               int64_t ld) {
  const hn::ScalableTag<float> whole;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(whole));
  if (columns >= lanes)
    transpose_by(whole, from, step, rows, columns, to, ld);
  else if (columns >= 8)
    transpose_by(hn::CappedTag<float, 8>(), from, step, rows, columns, to, ld);
  else
    transpose_by(hn::CappedTag<float, 4>(), from, step, rows, columns, to, ld);
}

}  // namespace
}  // namespace thalweg::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::gemm {
namespace {

HWY_EXPORT(transpose);

template <typename T>
void pack_any(const Matrix<T>& from, int64_t rows, int64_t columns, T* to, int64_t ld) {
  if (from.column == 1) {
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(to + i * ld, from.data + i * from.row, static_cast<size_t>(columns) * sizeof(T));
    }
    return;
  }
  // Strips of columns, so that the lines of memory they come from stay in the cache.
  constexpr int64_t kStrip = 16;
  for (int64_t j = 0; j < columns; j += kStrip) {
    const int64_t end = std::min(j + kStrip, columns);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t l = j; l < end; ++l) {
        to[i * ld + l] = from.data[i * from.row + l * from.column];
      }
    }
  }
}

}  // namespace

void pack(const Matrix<float>& from, int64_t rows, int64_t columns, float* to, int64_t ld) {
  if (from.row == 1 && rows >= 4 && columns >= 4) {
    HWY_DYNAMIC_DISPATCH(transpose)(from.data, from.column, rows, columns, to, ld);
  } else {
    pack_any(from, rows, columns, to, ld);
  }
}

void pack(const Matrix<double>& from, int64_t rows, int64_t columns, double* to, int64_t ld) {
  pack_any(from, rows, columns, to, ld);
}

}  // namespace thalweg::gemm
#endif
