// The rows of where and clip.

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/select_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/row-inl.h"
// clang-format on

#include "kernels/simd/select_rows.h"

#include "ops/select.h"

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

// The conditions of a vector of U, as a mask.
template <typename U>
HWY_INLINE auto load_conditions(const uint8_t* p) {
  const hn::ScalableTag<U> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto bytes = hn::LoadU(d8, p);
  if constexpr (sizeof(U) == 1) {
    return hn::Ne(bytes, hn::Zero(d));
  } else if constexpr (sizeof(U) == 8) {
    const auto words = hn::PromoteTo(hn::Rebind<uint32_t, decltype(d)>(), bytes);
    return hn::Ne(hn::PromoteTo(d, words), hn::Zero(d));
  } else {
    return hn::Ne(hn::PromoteTo(d, bytes), hn::Zero(d));
  }
}

template <typename U>
HWY_INLINE Simd<U> pick(const uint8_t* conditions, Simd<U> a, Simd<U> b) {
  return hn::IfThenElse(load_conditions<U>(conditions), a.v, b.v);
}

template <typename U>
void where_row(const PointwiseRow& row) {
  constexpr simd::RowItems kItems{3, {1, sizeof(U), sizeof(U)}, sizeof(U)};
  if (row.n > 1 && row.in_stride[0] == 0) {  // one condition for the whole row: a copy
    const size_t k = *row.in[0] ? 1 : 2;
    return simd::copy_strided(row.out, row.out_stride, row.in[k], row.in_stride[k], sizeof(U),
                              row.n);
  }
  if (!simd::is_plain(row, kItems)) return simd::strided_row(row, kItems, where_row<U>);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<U>()));
  RowInput<U> a, b;
  a.start(row.in[1], row.n == 1 ? 1 : row.in_stride[1]);
  b.start(row.in[2], row.n == 1 ? 1 : row.in_stride[2]);
  const uint8_t* conditions = reinterpret_cast<const uint8_t*>(row.in[0]);
  char* out = row.out;
  int64_t left = row.n;
  for (; left >= lanes; left -= lanes, conditions += lanes) {
    out = store(pick(conditions, a.next(), b.next()), out);
  }
  if (left == 0) return;
  const size_t n = static_cast<size_t>(left);
  HWY_ALIGN uint8_t last[hn::MaxLanes(hn::ScalableTag<U>())] = {};
  for (size_t i = 0; i < n; ++i) last[i] = conditions[i];
  store_last(pick(last, a.last(n), b.last(n)), out, n);
}

// A NaN stays: both comparisons are false.
template <typename T>
void clip_row(const PointwiseRow& row) {
  constexpr simd::RowItems kItems{1, {sizeof(T)}, sizeof(T)};
  if (!simd::is_plain(row, kItems)) return simd::strided_row(row, kItems, clip_row<T>);
  const ClipAttrs& attrs = *static_cast<const ClipAttrs*>(row.context);
  const Simd<T> low(attrs.low), high(attrs.high);
  const auto clipped = [&](Simd<T> x)
                           HWY_ATTR { return select(x < low, low, select(x > high, high, x)); };
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  RowInput<T> in;
  in.start(row.in[0], row.n == 1 ? 1 : row.in_stride[0]);
  char* out = row.out;
  int64_t left = row.n;
  for (; left >= lanes; left -= lanes) out = store(clipped(in.next()), out);
  const size_t n = static_cast<size_t>(left);
  if (n) store_last(clipped(in.last(n)), out, n);
}

void fill_rows(simd::SelectTable& table) {
  table.clip_f32 = clip_row<float>;
  table.clip_f64 = clip_row<double>;
  table.where[0] = where_row<uint8_t>;
  table.where[1] = where_row<uint16_t>;
  table.where[2] = where_row<uint32_t>;
  table.where[3] = where_row<uint64_t>;
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill_rows);

void simd::fill_select(SelectTable& table) { HWY_DYNAMIC_DISPATCH(fill_rows)(table); }
}  // namespace thalweg
#endif
