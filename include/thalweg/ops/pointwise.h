#pragma once

// Point-wise functions and operators. Operands broadcast (NumPy's rule) and are promoted to a
// common dtype; a number next to a tensor takes the tensor's dtype, or f32 where that cannot hold a
// fraction. Integers given to floating functions become f32.

#include <concepts>

#include <thalweg/tensor/tensor.h>

namespace thalweg {

#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) \
  THALWEG_API Tensor name(const Tensor& x);
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) THALWEG_API Tensor name(const Tensor& x);
#define THALWEG_UNARY_TEST(name, forward, doc) THALWEG_API Tensor name(const Tensor& x);
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  THALWEG_API Tensor name(const Tensor& a, const Tensor& b);                                 \
  THALWEG_API Tensor name(const Tensor& a, double b);                                        \
  THALWEG_API Tensor name(double a, const Tensor& b);
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc)      \
  THALWEG_API Tensor name(const Tensor& a, const Tensor& b); \
  THALWEG_API Tensor name(const Tensor& a, double b);        \
  THALWEG_API Tensor name(double a, const Tensor& b);
#define THALWEG_COMPARE(name, forward, doc)                  \
  THALWEG_API Tensor name(const Tensor& a, const Tensor& b); \
  THALWEG_API Tensor name(const Tensor& a, double b);        \
  THALWEG_API Tensor name(double a, const Tensor& b);
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE

/// True where an element is 0.
THALWEG_API Tensor logical_not(const Tensor& x);
/// Elements of `a` where `condition` (bool) holds, else of `b`; all three broadcast.
THALWEG_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
THALWEG_API Tensor where(const Tensor& condition, const Tensor& a, double b);
THALWEG_API Tensor where(const Tensor& condition, double a, const Tensor& b);
/// Elements held between `low` and `high`; the gradient passes where they were inside, ends
/// included.
THALWEG_API Tensor clip(const Tensor& x, double low, double high);
/// Elements converted to `dtype`; floating to integer truncates towards 0, anything to bool is
/// x != 0. A tensor of that dtype is returned as it is.
THALWEG_API Tensor cast(const Tensor& x, DType dtype);
/// prelu with one slope for all elements.
THALWEG_API Tensor leaky_relu(const Tensor& x, double slope = 0.01);

inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator!(const Tensor& x) { return logical_not(x); }

#define THALWEG_OPERATOR(symbol, name)                                                   \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return name(a, b); } \
  inline Tensor operator symbol(const Tensor& a, double b) { return name(a, b); }        \
  inline Tensor operator symbol(double a, const Tensor& b) { return name(a, b); }
THALWEG_OPERATOR(+, add)
THALWEG_OPERATOR(-, sub)
THALWEG_OPERATOR(*, mul)
THALWEG_OPERATOR(/, div)
THALWEG_OPERATOR(==, equal)
THALWEG_OPERATOR(!=, not_equal)
THALWEG_OPERATOR(<, less)
THALWEG_OPERATOR(<=, less_equal)
THALWEG_OPERATOR(>, greater)
THALWEG_OPERATOR(>=, greater_equal)
#undef THALWEG_OPERATOR

// In place: `a` keeps its shape, dtype and storage. Not recorded; see Tensor::assign.
THALWEG_API const Tensor& operator+=(const Tensor& a, const Tensor& b);
THALWEG_API const Tensor& operator-=(const Tensor& a, const Tensor& b);
THALWEG_API const Tensor& operator*=(const Tensor& a, const Tensor& b);
THALWEG_API const Tensor& operator/=(const Tensor& a, const Tensor& b);
THALWEG_API const Tensor& operator+=(const Tensor& a, double b);
THALWEG_API const Tensor& operator-=(const Tensor& a, double b);
THALWEG_API const Tensor& operator*=(const Tensor& a, double b);
THALWEG_API const Tensor& operator/=(const Tensor& a, double b);

}  // namespace thalweg
