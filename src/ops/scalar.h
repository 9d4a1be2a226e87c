#pragma once

// Scalar<T>: a number that the expressions of pointwise.def compile for, one element at a time. It
// keeps literals in T, and lets float stand for the half types.

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include <thalweg/base/host_device.h>
#include <thalweg/tensor/half.h>

namespace thalweg {

/// The type that arithmetic on elements of type T is done in.
template <typename T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

template <typename T>
struct Scalar {
  T v;
  using Mask = bool;
  THALWEG_HOST_DEVICE constexpr Scalar(T value) : v(value) {}
  template <typename L>
  requires(std::is_arithmetic_v<L> && !std::is_same_v<L, T>) THALWEG_HOST_DEVICE
      constexpr Scalar(L literal)
      : v(static_cast<T>(literal)) {}

  // Integers wrap around, as NumPy's do: the sum is made in the unsigned type.
  friend THALWEG_HOST_DEVICE Scalar operator-(Scalar a) { return Scalar(T(0)) - a; }
  friend THALWEG_HOST_DEVICE Scalar operator+(Scalar a, Scalar b) {
    return wrap(bits(a) + bits(b));
  }
  friend THALWEG_HOST_DEVICE Scalar operator-(Scalar a, Scalar b) {
    return wrap(bits(a) - bits(b));
  }
  friend THALWEG_HOST_DEVICE Scalar operator*(Scalar a, Scalar b) {
    return wrap(bits(a) * bits(b));
  }
  friend THALWEG_HOST_DEVICE Scalar operator/(Scalar a, Scalar b) {
    if constexpr (std::is_floating_point_v<T>)
      return a.v / b.v;
    else
      return b.v == 0 ? T(0) : b.v == T(-1) ? -a : Scalar(static_cast<T>(a.v / b.v));
  }
  friend THALWEG_HOST_DEVICE bool operator==(Scalar a, Scalar b) { return a.v == b.v; }
  friend THALWEG_HOST_DEVICE bool operator!=(Scalar a, Scalar b) { return a.v != b.v; }
  friend THALWEG_HOST_DEVICE bool operator<(Scalar a, Scalar b) { return a.v < b.v; }
  friend THALWEG_HOST_DEVICE bool operator<=(Scalar a, Scalar b) { return a.v <= b.v; }
  friend THALWEG_HOST_DEVICE bool operator>(Scalar a, Scalar b) { return a.v > b.v; }
  friend THALWEG_HOST_DEVICE bool operator>=(Scalar a, Scalar b) { return a.v >= b.v; }

 private:
  static THALWEG_HOST_DEVICE auto bits(Scalar a) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return static_cast<uint64_t>(a.v);
    } else {
      return a.v;
    }
  }
  template <typename U>
  static THALWEG_HOST_DEVICE Scalar wrap(U value) {
    return Scalar(static_cast<T>(value));
  }
};

template <typename T>
THALWEG_HOST_DEVICE Scalar<T> select(bool mask, std::type_identity_t<Scalar<T>> a, Scalar<T> b) {
  return mask ? a : b;
}

namespace num {

// std:: functions by name; integers only reach those that every dtype has.
#define THALWEG_NUM(name)                             \
  template <std::floating_point T>                    \
  THALWEG_HOST_DEVICE Scalar<T> name(Scalar<T> x) {   \
    return Scalar<T>(static_cast<T>(std::name(x.v))); \
  }
THALWEG_NUM(sqrt)
THALWEG_NUM(cbrt)
THALWEG_NUM(exp)
THALWEG_NUM(exp2)
THALWEG_NUM(expm1)
THALWEG_NUM(log)
THALWEG_NUM(log2)
THALWEG_NUM(log10)
THALWEG_NUM(log1p)
THALWEG_NUM(sin)
THALWEG_NUM(cos)
THALWEG_NUM(tan)
THALWEG_NUM(asin)
THALWEG_NUM(acos)
THALWEG_NUM(atan)
THALWEG_NUM(sinh)
THALWEG_NUM(cosh)
THALWEG_NUM(tanh)
THALWEG_NUM(asinh)
THALWEG_NUM(acosh)
THALWEG_NUM(atanh)
THALWEG_NUM(erf)
#undef THALWEG_NUM

template <typename T>
THALWEG_HOST_DEVICE Scalar<T> abs(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(x.v);
  else
    return x.v < 0 ? -x : x;
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> sign(Scalar<T> x) {
  return x.v != x.v ? x.v : static_cast<T>((x.v > 0) - (x.v < 0));
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> floor(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::floor(x.v);
  else
    return x;
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> ceil(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::ceil(x.v);
  else
    return x;
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> trunc(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::trunc(x.v);
  else
    return x;
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> round(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::nearbyint(x.v);
  else
    return x;
}
template <typename T>
THALWEG_HOST_DEVICE bool is_infinite(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isinf(x.v);
  else
    return false;
}
template <typename T>
THALWEG_HOST_DEVICE bool is_finite(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isfinite(x.v);
  else
    return true;
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> max(Scalar<T> a, std::type_identity_t<Scalar<T>> b) {
  return a.v > b.v || a.v != a.v ? a : b;
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> min(Scalar<T> a, std::type_identity_t<Scalar<T>> b) {
  return a.v < b.v || a.v != a.v ? a : b;
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> floor_divide(Scalar<T> a, Scalar<T> b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::floor(a.v / b.v);
  } else {
    const Scalar<T> q = a / b;
    return (q * b).v != a.v && (a.v < 0) != (b.v < 0) && b.v != 0 ? q - T(1) : q;
  }
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> remainder(Scalar<T> a, Scalar<T> b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T r = std::fmod(a.v, b.v);
    return r != 0 && (r < 0) != (b.v < 0) ? r + b.v : r;
  } else {
    return a - floor_divide(a, b) * b;
  }
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> pow(Scalar<T> a, Scalar<T> b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a.v, b.v);
  } else {
    if (b.v < 0) return a.v == 1 ? T(1) : a.v == T(-1) ? T(b.v % 2 ? -1 : 1) : T(0);
    Scalar<T> result(T(1)), base = a;
    for (T n = b.v; n > 0; n = static_cast<T>(n / 2)) {
      if (n % 2) result = result * base;
      base = base * base;
    }
    return result;
  }
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> atan2(Scalar<T> a, Scalar<T> b) {
  return std::atan2(a.v, b.v);
}
template <typename T>
THALWEG_HOST_DEVICE Scalar<T> hypot(Scalar<T> a, Scalar<T> b) {
  return std::hypot(a.v, b.v);
}
template <typename T>
THALWEG_HOST_DEVICE bool both(Scalar<T> a, Scalar<T> b) {
  return a.v != 0 && b.v != 0;
}
template <typename T>
THALWEG_HOST_DEVICE bool either(Scalar<T> a, Scalar<T> b) {
  return a.v != 0 || b.v != 0;
}
template <typename T>
THALWEG_HOST_DEVICE bool one_of(Scalar<T> a, Scalar<T> b) {
  return (a.v != 0) != (b.v != 0);
}

}  // namespace num
}  // namespace thalweg
