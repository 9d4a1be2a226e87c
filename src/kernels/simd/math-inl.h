// The num:: functions of Simd<T>: Highway's vector math with the special values of C's functions
// put right, and our own where it has none. Within 4 ulp of the exact value.

// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "kernels/simd/vector-inl.h"
// clang-format on

#include <cmath>
#include <limits>

#include <thalweg/base/host_device.h>

#if defined(THALWEG_KERNELS_SIMD_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THALWEG_KERNELS_SIMD_MATH_INL_H
#undef THALWEG_KERNELS_SIMD_MATH_INL_H
#else
#define THALWEG_KERNELS_SIMD_MATH_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {
namespace num {

template <typename T>
inline constexpr T kInf = std::numeric_limits<T>::infinity();
template <typename T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <typename T>
inline constexpr bool kIsF32 = sizeof(T) == 4;

// --- what the instruction set has ---

template <typename T>
HWY_INLINE Simd<T> abs(Simd<T> x) {
  return hn::Abs(x.v);
}
template <typename T>
HWY_INLINE Simd<T> sqrt(Simd<T> x) {
  return hn::Sqrt(x.v);
}
template <typename T>
HWY_INLINE Simd<T> floor(Simd<T> x) {
  return hn::Floor(x.v);
}
template <typename T>
HWY_INLINE Simd<T> ceil(Simd<T> x) {
  return hn::Ceil(x.v);
}
template <typename T>
HWY_INLINE Simd<T> trunc(Simd<T> x) {
  return hn::Trunc(x.v);
}
template <typename T>
HWY_INLINE Simd<T> round(Simd<T> x) {
  return hn::Round(x.v);
}
template <typename T>
HWY_INLINE Simd<T> copy_sign(Simd<T> magnitude, Simd<T> sign) {
  return hn::CopySign(magnitude.v, sign.v);
}
template <typename T>
HWY_INLINE SimdMask<T> is_infinite(Simd<T> x) {
  return abs(x) == kInf<T>;
}
template <typename T>
HWY_INLINE SimdMask<T> is_finite(Simd<T> x) {
  return abs(x) < kInf<T>;
}
template <typename T>
HWY_INLINE Simd<T> sign(Simd<T> x) {
  return select(x > 0, 1, select(x < 0, -1, x));
}
// x86 gives the second operand where one is NaN; so only a NaN in the first needs care.
template <typename T>
HWY_INLINE Simd<T> max(Simd<T> a, std::type_identity_t<Simd<T>> b) {
#if HWY_ARCH_X86
  return select(a == a, Simd<T>(hn::Max(a.v, b.v)), a);
#else
  return select(a > b || a != a, a, b);
#endif
}
template <typename T>
HWY_INLINE Simd<T> min(Simd<T> a, std::type_identity_t<Simd<T>> b) {
#if HWY_ARCH_X86
  return select(a == a, Simd<T>(hn::Min(a.v, b.v)), a);
#else
  return select(a < b || a != a, a, b);
#endif
}
template <typename T>
HWY_INLINE SimdMask<T> both(Simd<T> a, Simd<T> b) {
  return a != 0 && b != 0;
}
template <typename T>
HWY_INLINE SimdMask<T> either(Simd<T> a, Simd<T> b) {
  return a != 0 || b != 0;
}
template <typename T>
HWY_INLINE SimdMask<T> one_of(Simd<T> a, Simd<T> b) {
  return (a != 0) != (b != 0);
}
template <typename T>
HWY_INLINE Simd<T> floor_divide(Simd<T> a, Simd<T> b) {
  return floor(a / b);
}

// --- lane by lane, by the C library ---

/// y, but f(x) in the lanes of the mask: for arguments that a vector formula does not reach.
template <typename T>
HWY_INLINE Simd<T> where_lanes(SimdMask<T> lanes, Simd<T> y, Simd<T> x, T (*f)(T)) {
  const hn::ScalableTag<T> d;
  if (HWY_LIKELY(hn::AllFalse(d, lanes.m))) return y;
  HWY_ALIGN T in[hn::MaxLanes(d)], out[hn::MaxLanes(d)];
  hn::Store(x.v, d, in);
  for (size_t i = 0; i < hn::Lanes(d); ++i) out[i] = f(in[i]);
  return select(lanes, Simd<T>(hn::Load(d, out)), y);
}
template <typename T>
HWY_INLINE Simd<T> each_lane(Simd<T> x, T (*f)(T)) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T in[hn::MaxLanes(d)];
  hn::Store(x.v, d, in);
  for (size_t i = 0; i < hn::Lanes(d); ++i) in[i] = f(in[i]);
  return hn::Load(d, in);
}
template <typename T>
HWY_INLINE Simd<T> each_lane(Simd<T> x, Simd<T> y, T (*f)(T, T)) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T a[hn::MaxLanes(d)], b[hn::MaxLanes(d)];
  hn::Store(x.v, d, a);
  hn::Store(y.v, d, b);
  for (size_t i = 0; i < hn::Lanes(d); ++i) a[i] = f(a[i], b[i]);
  return hn::Load(d, a);
}

// --- exponentials and logarithms ---

template <typename T>
HWY_INLINE Simd<T> exp(Simd<T> x) {
  const Simd<T> held = hn::Min(x.v, Simd<T>(kIsF32<T> ? 89 : 710).v);  // beyond is infinite
  return select(x == x, Simd<T>(hn::Exp(typename Simd<T>::D(), held.v)), x);
}
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// exp(n ln 2 + r) with |r| <= ln 2 / 2, by a Chebyshev fit of (exp(r) - 1 - r - r^2 / 2) / r^3;
// within 1 ulp. The instruction that scales by 2^n goes over to infinity and 0 as it should, and
// each step hands a NaN on (min and max give their second operand).
HWY_INLINE Simd<float> exp(Simd<float> x) {
  const hn::ScalableTag<float> d;
  const auto held = hn::Max(hn::Set(d, -104.0f), hn::Min(hn::Set(d, 89.0f), x.v));
  const auto n = hn::Round(hn::Mul(held, hn::Set(d, 1.44269504f)));
  const auto most = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), held);
  const auto r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), most);
  auto y = hn::MulAdd(r, hn::Set(d, 0.0013918719f), hn::Set(d, 0.0083572045f));
  y = hn::MulAdd(r, y, hn::Set(d, 0.0416666232f));
  y = hn::MulAdd(r, y, hn::Set(d, 0.166666314f));
  y = hn::MulAdd(r, y, hn::Set(d, 0.5f));
  y = hn::MulAdd(r, y, hn::Set(d, 1.0f));
  y = hn::MulAdd(r, y, hn::Set(d, 1.0f));
  return decltype(y){_mm512_scalef_ps(y.raw, n.raw)};
}
#endif
template <typename T>
HWY_INLINE Simd<T> expm1(Simd<T> x) {
  const Simd<T> held = hn::Min(x.v, Simd<T>(kIsF32<T> ? 89 : 710).v);
  const Simd<T> y = hn::Expm1(typename Simd<T>::D(), held.v);
  return select(x == x && x != 0, y, x);
}
// Splits off the integer part n, so that exp sees only |x - n| <= 1/2.
template <typename T>
HWY_INLINE Simd<T> exp2(Simd<T> x) {
  const typename Simd<T>::D d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr T kMost = kIsF32<T> ? 129 : 1025, kLeast = kIsF32<T> ? -151 : -1076;
  const Simd<T> held = hn::Max(hn::Min(x.v, Simd<T>(kMost).v), Simd<T>(kLeast).v);
  const Simd<T> n = round(held);
  const Simd<T> part = hn::Exp(d, ((held - n) * 0.69314718055994530942).v);
  // 2^n in two factors, each a normal number.
  constexpr int kMantissa = kIsF32<T> ? 23 : 52, kBias = kIsF32<T> ? 127 : 1023;
  const auto whole = hn::ConvertTo(di, n.v);
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, kBias);
  const auto low = hn::ShiftLeft<kMantissa>(hn::Add(half, bias));
  const auto high = hn::ShiftLeft<kMantissa>(hn::Add(hn::Sub(whole, half), bias));
  const Simd<T> y = part * Simd<T>(hn::BitCast(d, low)) * Simd<T>(hn::BitCast(d, high));
  return select(x == x, y, x);
}

/// A logarithm at its special values: `y` elsewhere.
template <typename T>
HWY_INLINE Simd<T> log_special(Simd<T> x, Simd<T> y) {
  const Simd<T> special = select(x == 0, -kInf<T>, select(x < 0, kNan<T>, x));  // else inf, NaN
  return select(x > 0 && x < kInf<T>, y, special);
}
template <typename T>
HWY_INLINE Simd<T> log(Simd<T> x) {
  return log_special(x, Simd<T>(hn::Log(typename Simd<T>::D(), x.v)));
}
template <typename T>
HWY_INLINE Simd<T> log2(Simd<T> x) {
  return log_special(x, Simd<T>(hn::Log2(typename Simd<T>::D(), x.v)));
}
template <typename T>
HWY_INLINE Simd<T> log10(Simd<T> x) {
  return log_special(x, Simd<T>(hn::Log10(typename Simd<T>::D(), x.v)));
}
template <typename T>
HWY_INLINE Simd<T> log1p(Simd<T> x) {
  const Simd<T> y = hn::Log1p(typename Simd<T>::D(), x.v);
  const Simd<T> special = select(x == -1, -kInf<T>, select(x < -1, kNan<T>, x));
  return select(x > -1 && x < kInf<T> && x != 0, y, special);
}

// --- circular functions ---

// The vector formulas reduce arguments up to here.
inline constexpr double kMostAngle = 30000;

template <typename T>
T libm_sin(T x) {
  return std::sin(x);
}
template <typename T>
T libm_cos(T x) {
  return std::cos(x);
}
template <typename T>
T libm_tan(T x) {
  return std::tan(x);
}
template <typename T>
HWY_INLINE Simd<T> sin(Simd<T> x) {
  const Simd<T> y = hn::Sin(typename Simd<T>::D(), x.v);
  return where_lanes(!(abs(x) <= kMostAngle), y, x, libm_sin<T>);
}
template <typename T>
HWY_INLINE Simd<T> cos(Simd<T> x) {
  const Simd<T> y = hn::Cos(typename Simd<T>::D(), x.v);
  return where_lanes(!(abs(x) <= kMostAngle), y, x, libm_cos<T>);
}
template <typename T>
HWY_INLINE Simd<T> asin(Simd<T> x) {
  return hn::Asin(typename Simd<T>::D(), x.v);
}
template <typename T>
HWY_INLINE Simd<T> acos(Simd<T> x) {
  return hn::Acos(typename Simd<T>::D(), x.v);
}
template <typename T>
HWY_INLINE Simd<T> atan(Simd<T> x) {
  return hn::Atan(typename Simd<T>::D(), x.v);
}

// --- hyperbolic functions ---

// exp(|x|) / 2, in two factors so that it overflows no sooner than the result.
template <typename T>
HWY_INLINE Simd<T> half_exp(Simd<T> x) {
  const Simd<T> root = exp(abs(x) * 0.5);
  return root * 0.5 * root;
}
template <typename T>
HWY_INLINE Simd<T> sinh(Simd<T> x) {
  const Simd<T> e = half_exp(x);
  const Simd<T> small = hn::Sinh(typename Simd<T>::D(), hn::Min(abs(x).v, Simd<T>(1).v));
  return copy_sign(select(abs(x) < 1, small, e - 0.25 / e), x);
}
template <typename T>
HWY_INLINE Simd<T> cosh(Simd<T> x) {
  const Simd<T> e = half_exp(x);
  return e + 0.25 / e;
}
template <typename T>
HWY_INLINE Simd<T> tanh(Simd<T> x) {
  const Simd<T> y = hn::Tanh(typename Simd<T>::D(), x.v);
  return select(x == x, y, x);
}
template <typename T>
HWY_INLINE Simd<T> asinh(Simd<T> x) {
  const Simd<T> y = hn::Asinh(typename Simd<T>::D(), x.v);
  return select(is_finite(x), y, x);
}
template <typename T>
HWY_INLINE Simd<T> acosh(Simd<T> x) {
  const Simd<T> y = hn::Acosh(typename Simd<T>::D(), x.v);
  return select(x < 1, kNan<T>, select(is_finite(x), y, x));
}
template <typename T>
HWY_INLINE Simd<T> atanh(Simd<T> x) {
  const Simd<T> a = abs(x);
  return copy_sign(log1p((a + a) / (1 - a)) * 0.5, x);
}

// --- by way of f64 ---

/// f of f32 operands, evaluated in f64 and rounded.
template <typename F, typename... X>
HWY_INLINE Simd<float> in_double(F f, X... x) {
  const hn::ScalableTag<float> d;
  const hn::Half<decltype(d)> dh;
  const Simd<double> low = f(lower_half(x)...);
  const Simd<double> high = f(upper_half(x)...);
  return hn::Combine(d, hn::DemoteTo(dh, high.v), hn::DemoteTo(dh, low.v));
}

struct TanInDouble {
  HWY_INLINE Simd<double> operator()(Simd<double> x) const {
    const hn::ScalableTag<double> d;
    return Simd<double>(hn::Sin(d, x.v)) / Simd<double>(hn::Cos(d, x.v));
  }
};
HWY_INLINE Simd<float> tan(Simd<float> x) {
  return where_lanes(!(abs(x) <= kMostAngle), in_double(TanInDouble(), x), x, libm_tan<float>);
}
HWY_INLINE Simd<double> tan(Simd<double> x) { return each_lane(x, libm_tan<double>); }

struct CbrtInDouble {
  HWY_INLINE Simd<double> operator()(Simd<double> x) const {
    const Simd<double> y = exp(log(abs(x)) * (1 / 3.0));
    return copy_sign(y, x);
  }
};
HWY_INLINE Simd<float> cbrt(Simd<float> x) { return in_double(CbrtInDouble(), x); }
HWY_INLINE Simd<double> cbrt(Simd<double> x) {
  return each_lane<double>(x, [](double v) { return std::cbrt(v); });
}

struct HypotInDouble {
  HWY_INLINE Simd<double> operator()(Simd<double> a, Simd<double> b) const {
    return select(is_infinite(a) || is_infinite(b), kInf<double>, sqrt(a * a + b * b));
  }
};
HWY_INLINE Simd<float> hypot(Simd<float> a, Simd<float> b) {
  return in_double(HypotInDouble(), a, b);
}
HWY_INLINE Simd<double> hypot(Simd<double> a, Simd<double> b) {
  return each_lane<double>(a, b, [](double x, double y) { return std::hypot(x, y); });
}

// C's special values: 1 for an exponent of 0 and a base of 1; a negative base keeps its sign for
// odd exponents, loses it for even ones and has no power of a fraction.
struct PowInDouble {
  HWY_INLINE Simd<double> operator()(Simd<double> a, Simd<double> b) const {
    const Simd<double> magnitude = abs(a);
    const Simd<double> power = exp(b * log(magnitude));
    const SimdMask<double> integer = trunc(b) == b;
    const SimdMask<double> odd = integer && trunc(b * 0.5) * 2 != b;
    const Simd<double> y = select(odd, copy_sign(power, a), power);
    const Simd<double> real = select(a < 0 && !integer && is_finite(a), kNan<double>, y);
    return select(b == 0 || a == 1, 1, select(a == -1 && is_infinite(b), 1, real));
  }
};
HWY_INLINE Simd<float> pow(Simd<float> a, Simd<float> b) { return in_double(PowInDouble(), a, b); }
HWY_INLINE Simd<double> pow(Simd<double> a, Simd<double> b) {
  return each_lane<double>(a, b, [](double x, double y) { return std::pow(x, y); });
}

template <typename T>
HWY_INLINE Simd<T> atan2(Simd<T> a, Simd<T> b) {
  return each_lane<T>(a, b, [](T x, T y) { return std::atan2(x, y); });
}
template <typename T>
HWY_INLINE Simd<T> remainder(Simd<T> a, Simd<T> b) {
  return each_lane<T>(a, b, [](T x, T y) {
    const T r = std::fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
  });
}

// --- the error function ---

/// c0 + c1 * x + ..., by Horner's rule.
template <typename T>
HWY_INLINE Simd<T> polynomial(Simd<T>, double c0) {
  return Simd<T>(c0);
}
template <typename T, typename... C>
HWY_INLINE Simd<T> polynomial(Simd<T> x, double c0, C... rest) {
  return hn::MulAdd(polynomial(x, rest...).v, x.v, Simd<T>(c0).v);
}

// Chebyshev fits: of erf(x) / x - 1 in x^2 on [0, 1], and of -log(1 - erf(x)) on [1, 4].
HWY_INLINE Simd<float> erf(Simd<float> x) {
  const Simd<float> t = abs(x), s = t * t;
  const Simd<float> near =
      polynomial(s, 0.128379165848, -0.376126266667, 0.112835947152, -0.0268542120106,
                 0.00518908742343, -0.000801686428717, 7.87587506269e-5);
  const Simd<float> held = hn::Min(t.v, Simd<float>(4).v);
  const Simd<float> far = polynomial(held, -0.000320138049678, 1.13023343484, 0.631826051559,
                                     0.110080082949, -0.0264211360057, 0.00475959629327,
                                     -0.000596805625661, 4.60580426892e-5, -1.63715141459e-6);
  const Simd<float> y = select(t < 1, t + t * near, 1 - exp(-far));
  return select(x == x, copy_sign(y, x), x);
}
HWY_INLINE Simd<double> erf(Simd<double> x) {
  return each_lane<double>(x, [](double v) { return std::erf(v); });
}

}  // namespace num

#include "ops/pointwise_functors-inl.h"

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
