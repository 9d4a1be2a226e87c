#include <thalweg/tensor/dtype.h>

#include "base/fail.h"

namespace thalweg {
namespace {

constexpr const char* kNames[kDTypes] = {"f32", "f64", "f16", "bf16", "i64",
                                         "i32", "i16", "i8",  "u8",   "bool"};

// The signed integer that holds all of u8 and the other operand.
DType promote_integers(DType a, DType b) {
  if (a == DType::u8 || b == DType::u8) {
    const DType other = a == DType::u8 ? b : a;
    return other == DType::i8 ? DType::i16 : other;
  }
  return item_size(a) >= item_size(b) ? a : b;
}

}  // namespace

const char* name(DType dtype) noexcept { return kNames[static_cast<int>(dtype)]; }

DType parse_dtype(std::string_view text) {
  for (int i = 0; i < kDTypes; ++i) {
    if (text == kNames[i]) return static_cast<DType>(i);
  }
  fail_invalid("dtype: '{}' is no dtype; known are {}", text, fmt::join(kNames, ", "));
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_floating(a) && is_floating(b)) {
    if (is_half(a) && is_half(b)) return DType::f32;
    return item_size(a) >= item_size(b) ? a : b;
  }
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return promote_integers(a, b);
}

}  // namespace thalweg
