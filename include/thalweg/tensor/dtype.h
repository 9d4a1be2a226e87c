#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <thalweg/base/export.h>
#include <thalweg/tensor/half.h>

namespace thalweg {

/// Element types. Their order is fixed: it is written to files.
enum class DType : uint8_t { f32, f64, f16, bf16, i64, i32, i16, i8, u8, boolean };
inline constexpr int kDTypes = 10;

/// "f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool".
THALWEG_API const char* name(DType dtype) noexcept;
/// Reads what name() gives. Throws Error{invalid} with the list of names for other text.
THALWEG_API DType parse_dtype(std::string_view text);

/// Bytes of one element.
constexpr size_t item_size(DType dtype) {
  constexpr uint8_t sizes[kDTypes] = {4, 8, 2, 2, 8, 4, 2, 1, 1, 1};
  return sizes[static_cast<int>(dtype)];
}
constexpr bool is_floating(DType dtype) { return dtype <= DType::bf16; }
constexpr bool is_integer(DType dtype) { return dtype >= DType::i64 && dtype <= DType::u8; }
constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// The dtype of an operation on two arrays: the Array API standard's promotion table; where that
/// leaves the pair open (a floating and an integer array) the floating dtype, and f32 for f16 with
/// bf16.
THALWEG_API DType promote(DType a, DType b);

/// The dtype of a C++ element type, `dtype_of<float> == DType::f32`.
template <typename T>
inline constexpr DType dtype_of = [] {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<U, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<U, Float16>)
    return DType::f16;
  else if constexpr (std::is_same_v<U, BFloat16>)
    return DType::bf16;
  else if constexpr (std::is_same_v<U, bool>)
    return DType::boolean;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 8)
    return DType::i64;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 4)
    return DType::i32;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 2)
    return DType::i16;
  else if constexpr (std::is_same_v<U, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<U, uint8_t>)
    return DType::u8;
  else
    static_assert(sizeof(U) == 0, "no dtype has this element type");
}();

/// Calls f(T{}) with the C++ element type of `dtype`.
template <typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::f16:
      return f(Float16{});
    case DType::bf16:
      return f(BFloat16{});
    case DType::i64:
      return f(int64_t{});
    case DType::i32:
      return f(int32_t{});
    case DType::i16:
      return f(int16_t{});
    case DType::i8:
      return f(int8_t{});
    case DType::u8:
      return f(uint8_t{});
    case DType::boolean:
      break;
  }
  return f(bool{});
}

}  // namespace thalweg
