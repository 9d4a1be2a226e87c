#pragma once

// The num:: functions over tensors, so that the gradient expressions of pointwise.def compile for
// Tensor: gradients in terms of ops. A literal takes the other operand's dtype. A step (floor) is a
// constant in a gradient.

#include <thalweg/ops/pointwise.h>

namespace thalweg {

inline Tensor select(const Tensor& mask, const Tensor& a, const Tensor& b) {
  return where(mask, a, b);
}

namespace num {

#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) \
  inline Tensor name(const Tensor& x) { return thalweg::name(x); }
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) \
  inline Tensor name(const Tensor& x) { return thalweg::name(x.detach()); }
#define THALWEG_UNARY_TEST(name, forward, doc)
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  inline Tensor name(const Tensor& a, const Tensor& b) { return thalweg::name(a, b); }
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc)
#define THALWEG_COMPARE(name, forward, doc)
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE

}  // namespace num
}  // namespace thalweg
