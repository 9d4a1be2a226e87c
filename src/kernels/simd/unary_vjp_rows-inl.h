// The fused gradient rows of pointwise.def's ops of one input.
// A source file defines the element type THALWEG_SIMD_TYPE, the member of PointwiseRows it fills,
// THALWEG_SIMD_MEMBER, and the name of the function that does, THALWEG_SIMD_FILL.

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/unary_vjp_rows-inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/math-inl.h"
#include "kernels/simd/row-inl.h"
// clang-format on

#include "kernels/simd/pointwise_rows.h"

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

// A gradient has grad, then what the row saves: x, y or both. What is not saved is not used.
enum class Kept { none, x, y, xy };

template <typename F, Kept kKept>
struct Gradient {
  template <typename V>
  static HWY_INLINE V apply(V g) {
    return F::gradient(g, g, g);
  }
  template <typename V>
  static HWY_INLINE V apply(V g, V kept) {
    return kKept == Kept::x ? F::gradient(g, kept, g) : F::gradient(g, g, kept);
  }
  template <typename V>
  static HWY_INLINE V apply(V g, V x, V y) {
    return F::gradient(g, x, y);
  }
};

template <typename F, Kept kKept>
constexpr PointwiseRowFn row = simd_row<Gradient<F, kKept>, THALWEG_SIMD_TYPE, THALWEG_SIMD_TYPE,
                                        kKept == Kept::none ? 1
                                        : kKept == Kept::xy ? 3
                                                            : 2>;

void fill(simd::PointwiseTable& table) {
  using simd::PointwiseId;
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) \
  table[PointwiseId::name##_vjp].THALWEG_SIMD_MEMBER = row<pointwise::name, Kept::saved>;
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc)
#define THALWEG_UNARY_TEST(name, forward, doc)
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc)
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc)
#define THALWEG_COMPARE(name, forward, doc)
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
