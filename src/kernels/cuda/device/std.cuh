#pragma once

// The parts of the standard library that the sources shared with the cpu use, for NVRTC, which has
// none. Given to it under the names of the standard's headers.

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;

namespace std {

// --- type_traits, concepts ---
template <typename T, typename U>
inline constexpr bool is_same_v = false;
template <typename T>
inline constexpr bool is_same_v<T, T> = true;

template <typename T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <typename T>
inline constexpr bool is_integral_v =
    is_same_v<T, bool> || is_same_v<T, signed char> || is_same_v<T, unsigned char> ||
    is_same_v<T, short> || is_same_v<T, unsigned short> || is_same_v<T, int> ||
    is_same_v<T, unsigned int> || is_same_v<T, long> || is_same_v<T, unsigned long> ||
    is_same_v<T, long long> || is_same_v<T, unsigned long long>;
template <typename T>
inline constexpr bool is_arithmetic_v = is_floating_point_v<T> || is_integral_v<T>;

template <typename T>
concept floating_point = is_floating_point_v<T>;

template <bool kFirst, typename T, typename U>
struct conditional {
  using type = T;
};
template <typename T, typename U>
struct conditional<false, T, U> {
  using type = U;
};
template <bool kFirst, typename T, typename U>
using conditional_t = typename conditional<kFirst, T, U>::type;

template <typename T>
struct type_identity {
  using type = T;
};
template <typename T>
using type_identity_t = typename type_identity<T>::type;

// --- bit ---
template <typename To, typename From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}

// --- cmath: the name alone for double, with an f for float ---
#define THALWEG_MATH_1(name, float_name)                 \
  inline float name(float x) { return ::float_name(x); } \
  inline double name(double x) { return ::name(x); }
#define THALWEG_MATH_2(name, float_name)                             \
  inline float name(float x, float y) { return ::float_name(x, y); } \
  inline double name(double x, double y) { return ::name(x, y); }
THALWEG_MATH_1(sqrt, sqrtf)
THALWEG_MATH_1(cbrt, cbrtf)
THALWEG_MATH_1(exp, expf)
THALWEG_MATH_1(exp2, exp2f)
THALWEG_MATH_1(expm1, expm1f)
THALWEG_MATH_1(log, logf)
THALWEG_MATH_1(log2, log2f)
THALWEG_MATH_1(log10, log10f)
THALWEG_MATH_1(log1p, log1pf)
THALWEG_MATH_1(sin, sinf)
THALWEG_MATH_1(cos, cosf)
THALWEG_MATH_1(tan, tanf)
THALWEG_MATH_1(asin, asinf)
THALWEG_MATH_1(acos, acosf)
THALWEG_MATH_1(atan, atanf)
THALWEG_MATH_1(sinh, sinhf)
THALWEG_MATH_1(cosh, coshf)
THALWEG_MATH_1(tanh, tanhf)
THALWEG_MATH_1(asinh, asinhf)
THALWEG_MATH_1(acosh, acoshf)
THALWEG_MATH_1(atanh, atanhf)
THALWEG_MATH_1(erf, erff)
THALWEG_MATH_1(fabs, fabsf)
THALWEG_MATH_1(floor, floorf)
THALWEG_MATH_1(ceil, ceilf)
THALWEG_MATH_1(trunc, truncf)
THALWEG_MATH_1(nearbyint, nearbyintf)
THALWEG_MATH_2(fmod, fmodf)
THALWEG_MATH_2(pow, powf)
THALWEG_MATH_2(atan2, atan2f)
THALWEG_MATH_2(hypot, hypotf)
#undef THALWEG_MATH_1
#undef THALWEG_MATH_2

template <floating_point T>
bool isinf(T x) {
  return ::isinf(x);
}
template <floating_point T>
bool isfinite(T x) {
  return ::isfinite(x);
}

}  // namespace std
