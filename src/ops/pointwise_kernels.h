#pragma once

// The reference kernels of pointwise.def's rows; in a file of their own, which takes long to
// compile.

#include "ops/pointwise_reference.h"

namespace thalweg::pointwise_kernels {

#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) \
  void name(const KernelContext& ctx);                             \
  void name##_vjp(const KernelContext& ctx);
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) void name(const KernelContext& ctx);
#define THALWEG_UNARY_TEST(name, forward, doc) void name(const KernelContext& ctx);
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  void name(const KernelContext& ctx);
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc) void name(const KernelContext& ctx);
#define THALWEG_COMPARE(name, forward, doc) void name(const KernelContext& ctx);
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE

}  // namespace thalweg::pointwise_kernels
