#pragma once

// The SIMD rows of pointwise.def: for each op the innermost loops of the target that was chosen.
// Files of this folder fill them, a part each, because all of them take long to compile.

#include <cstdint>

#include "ops/pointwise_loop.h"

namespace thalweg::simd {

/// Every op that pointwise.def makes, in its order; name_vjp is the fused gradient of name.
enum class PointwiseId : uint16_t {
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) name, name##_vjp,
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) name,
#define THALWEG_UNARY_TEST(name, forward, doc) name,
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) name,
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc) name,
#define THALWEG_COMPARE(name, forward, doc) name,
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE
  count
};

struct PointwiseRows {
  PointwiseRowFn f32 = nullptr;
  PointwiseRowFn f64 = nullptr;
};

class PointwiseTable {
 public:
  PointwiseRows& operator[](PointwiseId id) { return rows_[static_cast<size_t>(id)]; }

 private:
  PointwiseRows rows_[static_cast<size_t>(PointwiseId::count)];
};

// Each fills its part of the table with the loops of the best target that the processor has.
void fill_unary_f32(PointwiseTable& table);
void fill_unary_f64(PointwiseTable& table);
void fill_unary_vjp_f32(PointwiseTable& table);
void fill_unary_vjp_f64(PointwiseTable& table);
void fill_binary_f32(PointwiseTable& table);
void fill_binary_f64(PointwiseTable& table);

}  // namespace thalweg::simd
