#include "ops/pointwise_kernels.h"

namespace thalweg {
#include "ops/pointwise_functors-inl.h"

namespace {

template <typename F>
struct Forward {
  template <typename... V>
  static auto apply(V... v) {
    return F::forward(v...);
  }
};

// The fused gradient has grad, then what the row saves: x, y or both. What is not saved is not
// used.
enum class Kept { none, x, y, xy };

template <typename F, Kept kKept>
struct Gradient {
  template <typename V>
  static V apply(V g) {
    return F::gradient(g, g, g);
  }
  template <typename V>
  static V apply(V g, V kept) {
    return kKept == Kept::x ? F::gradient(g, kept, g) : F::gradient(g, g, kept);
  }
  template <typename V>
  static V apply(V g, V x, V y) {
    return F::gradient(g, x, y);
  }
};

constexpr size_t gradient_inputs(Kept kept) {
  return kept == Kept::none ? 1 : kept == Kept::xy ? 3 : 2;
}

}  // namespace

namespace pointwise_kernels {

#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc)                 \
  void name(const KernelContext& ctx) {                                            \
    reference_pointwise<Forward<pointwise::name>, Classes::dtypes, 1>(ctx);        \
  }                                                                                \
  void name##_vjp(const KernelContext& ctx) {                                      \
    reference_pointwise<Gradient<pointwise::name, Kept::saved>, Classes::floating, \
                        gradient_inputs(Kept::saved)>(ctx);                        \
  }
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc)                      \
  void name(const KernelContext& ctx) {                                     \
    reference_pointwise<Forward<pointwise::name>, Classes::dtypes, 1>(ctx); \
  }
#define THALWEG_UNARY_TEST(name, forward, doc)                                 \
  void name(const KernelContext& ctx) {                                        \
    reference_pointwise<Forward<pointwise::name>, Classes::any, 1, bool>(ctx); \
  }
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc)                     \
  void name(const KernelContext& ctx) {                                     \
    reference_pointwise<Forward<pointwise::name>, Classes::dtypes, 2>(ctx); \
  }
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  THALWEG_BINARY_STEP(name, dtypes, forward, doc)
#define THALWEG_COMPARE(name, forward, doc)                                    \
  void name(const KernelContext& ctx) {                                        \
    reference_pointwise<Forward<pointwise::name>, Classes::any, 2, bool>(ctx); \
  }
#include <thalweg/ops/pointwise.def>

}  // namespace pointwise_kernels
}  // namespace thalweg
