#include "data/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "data/convert_simd.h"

namespace thalweg::data {
namespace {

template <typename To>
To narrow(double value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    if (!(value > static_cast<double>(Limits::min()))) return std::isnan(value) ? 0 : Limits::min();
    // The largest i64 is no double: the power of two above it is.
    if (value >= std::ldexp(1.0, Limits::digits)) return Limits::max();
    return static_cast<To>(value);
  } else if constexpr (std::is_arithmetic_v<To>) {
    return static_cast<To>(value);
  } else {
    return To(static_cast<float>(value));
  }
}

template <typename From, typename To>
void convert(const void* in, void* out, size_t n, double scale, double shift) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    if (scale == 1 && shift == 0) {  // no detour by double, which does not hold every i64
      for (size_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
      return;
    }
  }
  for (size_t i = 0; i < n; ++i) to[i] = narrow<To>(static_cast<double>(from[i]) * scale + shift);
}

std::vector<double> spread(const std::vector<double>& values, size_t n) {
  return values.size() == n ? values : std::vector<double>(n, values.at(0));
}

}  // namespace

ConvertFunction find_convert(DType from, DType to) {
  if (to == DType::f32 && from == DType::u8) return convert_u8_to_f32;
  if (to == DType::f32 && from == DType::f32) return convert_f32_to_f32;
  return visit_dtype(from, [to](auto in) {
    return visit_dtype(
        to, [](auto out) -> ConvertFunction { return convert<decltype(in), decltype(out)>; });
  });
}

SampleConverter::SampleConverter(const char* operation, DType from, const Shape& shape,
                                 Conversion conversion)
    : conversion_(std::move(conversion)), function_(find_convert(from, conversion_.dtype)) {
  const size_t channels = std::max(conversion_.scale.size(), conversion_.shift.size());
  conversion_.scale = spread(conversion_.scale, channels);
  conversion_.shift = spread(conversion_.shift, channels);
  if (channels != 1 && (shape.empty() || static_cast<size_t>(shape[0]) != channels)) {
    fail_invalid(
        "{}: {} values do not fit samples of shape {}; give one, or one per index of their first "
        "axis",
        operation, channels, to_string(shape));
  }
  n_ = static_cast<size_t>(element_count(shape)) / channels;
  in_bytes_ = n_ * item_size(from);
  out_bytes_ = n_ * item_size(conversion_.dtype);
}

Conversion compose(const Conversion& first, const Conversion& second) {
  const size_t n =
      std::max({first.scale.size(), first.shift.size(), second.scale.size(), second.shift.size()});
  Conversion both{second.dtype, spread(first.scale, n), spread(first.shift, n)};
  const std::vector<double> scale = spread(second.scale, n);
  const std::vector<double> shift = spread(second.shift, n);
  for (size_t i = 0; i < n; ++i) {
    both.scale[i] *= scale[i];
    both.shift[i] = both.shift[i] * scale[i] + shift[i];
  }
  return both;
}

}  // namespace thalweg::data
