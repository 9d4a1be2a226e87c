// Conversions: the halves to and from f32, and the rows of cast.

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/convert-inl.h"
// clang-format on

#include "kernels/simd/half_row.h"
#include "kernels/simd/select_rows.h"
#include "kernels/simd/strided_row.h"

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

// --- loops over unit strides ---

template <typename From, typename To>
void convert_floats(const From* from, To* to, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) Memory<To>::store(Memory<From>::load(from + i), to + i);
  const size_t left = static_cast<size_t>(n - i);
  if (left) Memory<To>::store_first(Memory<From>::load_first(from + i, left), to + i, left);
}

void f64_from_f32(const float* from, double* to, int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(df, from + i)), d, to + i);
  for (; i < n; ++i) to[i] = from[i];
}

void f32_from_f64(const double* from, float* to, int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::DemoteTo(df, hn::LoadU(d, from + i)), df, to + i);
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

void f32_from_u8(const uint8_t* from, float* to, int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const hn::RebindToSigned<decltype(d)> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, from + i))), d, to + i);
  }
  for (; i < n; ++i) to[i] = from[i];
}

// One rounding, as C does it; few processors convert i64 in vectors.
template <typename From>
void f32_from_integers(const From* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

template <typename T>
void copy(const T* from, T* to, int64_t n) {
  std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
}

// --- rows ---

template <typename From, typename To, void (*f)(const From*, To*, int64_t)>
void cast_row(const PointwiseRow& row) {
  constexpr simd::RowItems kItems{1, {sizeof(From)}, sizeof(To)};
  const From* from = reinterpret_cast<const From*>(row.in[0]);
  if (row.in_stride[0] == 0 && row.n > 1) {
    To one;
    f(from, &one, 1);
    return simd::fill_strided(row.out, row.out_stride, &one, sizeof one, row.n);
  }
  if (!simd::is_plain(row, kItems)) return simd::strided_row(row, kItems, cast_row<From, To, f>);
  f(from, reinterpret_cast<To*>(row.out), row.n);
}

template <typename From, typename To>
constexpr PointwiseRowFn floats = cast_row<From, To, convert_floats<From, To>>;

template <typename T, typename Item>
void add_copy(simd::SelectTable& table) {
  const int dtype = static_cast<int>(dtype_of<T>);
  table.cast[dtype][dtype] = cast_row<Item, Item, copy<Item>>;
}

void fill_casts(simd::SelectTable& table) {
  const auto to_f32 = [&](DType from) -> PointwiseRowFn& {
    return table.cast[static_cast<int>(from)][static_cast<int>(DType::f32)];
  };
  const auto from_f32 = [&](DType to) -> PointwiseRowFn& {
    return table.cast[static_cast<int>(DType::f32)][static_cast<int>(to)];
  };
  from_f32(DType::f16) = floats<float, Float16>;
  from_f32(DType::bf16) = floats<float, BFloat16>;
  from_f32(DType::f64) = cast_row<float, double, f64_from_f32>;
  to_f32(DType::f16) = floats<Float16, float>;
  to_f32(DType::bf16) = floats<BFloat16, float>;
  to_f32(DType::f64) = cast_row<double, float, f32_from_f64>;
  to_f32(DType::u8) = cast_row<uint8_t, float, f32_from_u8>;
  to_f32(DType::boolean) = cast_row<uint8_t, float, f32_from_u8>;
  to_f32(DType::i32) = cast_row<int32_t, float, f32_from_integers<int32_t>>;
  to_f32(DType::i64) = cast_row<int64_t, float, f32_from_integers<int64_t>>;
  add_copy<float, uint32_t>(table);
  add_copy<double, uint64_t>(table);
  add_copy<Float16, uint16_t>(table);
  add_copy<BFloat16, uint16_t>(table);
  add_copy<int64_t, uint64_t>(table);
  add_copy<int32_t, uint32_t>(table);
  add_copy<int16_t, uint16_t>(table);
  add_copy<int8_t, uint8_t>(table);
  add_copy<uint8_t, uint8_t>(table);
  add_copy<bool, uint8_t>(table);
}

template <typename T>
void widen(const uint16_t* from, float* to, int64_t n) {
  convert_floats(reinterpret_cast<const T*>(from), to, n);
}
template <typename T>
void narrow(const float* from, uint16_t* to, int64_t n) {
  convert_floats(from, reinterpret_cast<T*>(to), n);
}

void fill_halves(simd::Converters& c) {
  c = {widen<Float16>, narrow<Float16>, widen<BFloat16>, narrow<BFloat16>};
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill_casts);
HWY_EXPORT(fill_halves);

void simd::fill_cast(SelectTable& table) { HWY_DYNAMIC_DISPATCH(fill_casts)(table); }
void simd::fill_converters(Converters& table) { HWY_DYNAMIC_DISPATCH(fill_halves)(table); }
}  // namespace thalweg
#endif
