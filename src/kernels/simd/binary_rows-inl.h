// The rows of pointwise.def's ops of two inputs.
// A source file defines the element type THALWEG_SIMD_TYPE, the member of PointwiseRows it fills,
// THALWEG_SIMD_MEMBER, and the name of the function that does, THALWEG_SIMD_FILL.

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/binary_rows-inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/math-inl.h"
#include "kernels/simd/row-inl.h"
// clang-format on

#include "kernels/simd/pointwise_rows.h"

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

template <typename F>
struct Forward {
  template <typename V>
  static HWY_INLINE auto apply(V a, V b) {
    return F::forward(a, b);
  }
};

template <typename F, typename Out = THALWEG_SIMD_TYPE>
constexpr PointwiseRowFn row = simd_row<Forward<F>, THALWEG_SIMD_TYPE, Out, 2>;

void fill(simd::PointwiseTable& table) {
  using simd::PointwiseId;
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc)
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc)
#define THALWEG_UNARY_TEST(name, forward, doc)
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  table[PointwiseId::name].THALWEG_SIMD_MEMBER = row<pointwise::name>;
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc) \
  table[PointwiseId::name].THALWEG_SIMD_MEMBER = row<pointwise::name>;
#define THALWEG_COMPARE(name, forward, doc) \
  table[PointwiseId::name].THALWEG_SIMD_MEMBER = row<pointwise::name, bool>;
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill);

void simd::THALWEG_SIMD_FILL(PointwiseTable& table) { HWY_DYNAMIC_DISPATCH(fill)(table); }
}  // namespace thalweg
#endif
