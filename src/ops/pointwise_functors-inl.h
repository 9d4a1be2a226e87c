// The expressions of pointwise.def as templates over their operand: Scalar<T>, a SIMD vector, or
// Tensor. To be included inside a namespace, after the num:: functions of the operand, once per
// operand (so without a guard). Expressions of more than a line are functions here.

namespace num {

template <typename V>
THALWEG_HOST_DEVICE V sigmoid(V x) {
  return 1 / (1 + num::exp(-x));
}

template <typename V>
THALWEG_HOST_DEVICE V silu_gradient(V g, V x) {
  const V s = num::sigmoid(x);
  return g * (s * (1 + x * (1 - s)));
}

template <typename V>
THALWEG_HOST_DEVICE V gelu_tanh_gradient(V g, V x) {
  // With t the tangent, (1 + t) / 2 is s and 1 - t * t is 4 s (1 - s).
  const V cube_rate = 0.044715 * (x * x);
  const V s = num::sigmoid(1.5957691216057307118 * (x * (1 + cube_rate)));
  return g * (s * (1 + (x * (1 - s)) * (1.5957691216057307118 * (1 + 3 * cube_rate))));
}

template <typename V>
THALWEG_HOST_DEVICE V logaddexp(V a, V b) {
  // Equal infinities have no difference.
  return select(a == b, a + 0.69314718055994530942,
                num::max(a, b) + num::log1p(num::exp(-num::abs(a - b))));
}

}  // namespace num

namespace pointwise {

#define THALWEG_UNARY(name, dtypes, saved, forward_, gradient_, doc)                  \
  struct name {                                                                       \
    template <typename V>                                                             \
    static THALWEG_HOST_DEVICE auto forward(V x) {                                    \
      return forward_;                                                                \
    }                                                                                 \
    template <typename V>                                                             \
    static THALWEG_HOST_DEVICE V gradient([[maybe_unused]] V g, [[maybe_unused]] V x, \
                                          [[maybe_unused]] V y) {                     \
      return gradient_;                                                               \
    }                                                                                 \
  };
#define THALWEG_FORWARD_ONLY_1(name, forward_)     \
  struct name {                                    \
    template <typename V>                          \
    static THALWEG_HOST_DEVICE auto forward(V x) { \
      return forward_;                             \
    }                                              \
  };
#define THALWEG_FORWARD_ONLY_2(name, forward_)          \
  struct name {                                         \
    template <typename V>                               \
    static THALWEG_HOST_DEVICE auto forward(V a, V b) { \
      return forward_;                                  \
    }                                                   \
  };
#define THALWEG_UNARY_STEP(name, dtypes, forward_, doc) THALWEG_FORWARD_ONLY_1(name, forward_)
#define THALWEG_UNARY_TEST(name, forward_, doc) THALWEG_FORWARD_ONLY_1(name, forward_)
#define THALWEG_BINARY(name, dtypes, forward_, gradient_a_, saved_a, gradient_b_, saved_b, doc) \
  struct name {                                                                                 \
    template <typename V>                                                                       \
    static THALWEG_HOST_DEVICE auto forward(V a, V b) {                                         \
      return forward_;                                                                          \
    }                                                                                           \
    template <typename V>                                                                       \
    static V gradient_a([[maybe_unused]] V g, [[maybe_unused]] V a, [[maybe_unused]] V b,       \
                        [[maybe_unused]] V y) {                                                 \
      return gradient_a_;                                                                       \
    }                                                                                           \
    template <typename V>                                                                       \
    static V gradient_b([[maybe_unused]] V g, [[maybe_unused]] V a, [[maybe_unused]] V b,       \
                        [[maybe_unused]] V y) {                                                 \
      return gradient_b_;                                                                       \
    }                                                                                           \
  };
#define THALWEG_BINARY_STEP(name, dtypes, forward_, doc) THALWEG_FORWARD_ONLY_2(name, forward_)
#define THALWEG_COMPARE(name, forward_, doc) THALWEG_FORWARD_ONLY_2(name, forward_)

#include <thalweg/ops/pointwise.def>

#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE
#undef THALWEG_FORWARD_ONLY_1
#undef THALWEG_FORWARD_ONLY_2

}  // namespace pointwise
