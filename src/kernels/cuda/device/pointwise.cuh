#pragma once

// Point-wise kernels: the functors of pointwise.def over elements of any strides.

#include "kernels/cuda/device/elements.cuh"

namespace thalweg {
#include "ops/pointwise_functors-inl.h"

namespace cuda {

// --- what a kernel does with each element; `numbers` are the op's attributes ---

template <typename F>
struct Forward {
  template <typename... V>
  static auto apply(const double*, V... v) {
    return F::forward(v...);
  }
};

// The fused gradient has grad, then what the row saves: x, y or both. What is not saved is not
// used.
enum class Kept { none, x, y, xy };

template <typename F, Kept kKept>
struct Gradient {
  template <typename V>
  static V apply(const double*, V g) {
    return F::gradient(g, g, g);
  }
  template <typename V>
  static V apply(const double*, V g, V kept) {
    return kKept == Kept::x ? F::gradient(g, kept, g) : F::gradient(g, g, kept);
  }
  template <typename V>
  static V apply(const double*, V g, V x, V y) {
    return F::gradient(g, x, y);
  }
};

struct Where {
  template <typename V>
  static V apply(const double*, Scalar<bool> condition, V a, V b) {
    return condition.v ? a : b;
  }
};

struct Clip {
  template <typename C>
  static Scalar<C> apply(const double* numbers, Scalar<C> x) {
    const C low = C(numbers[0]), high = C(numbers[1]);
    return x.v < low ? low : x.v > high ? high : x.v;
  }
};

template <typename Out>
struct Cast {
  template <typename V>
  static Out apply(const double*, V x) {
    if constexpr (std::is_same_v<Out, bool>)
      return x.v != 0;
    else
      return static_cast<Out>(x.v);
  }
};

struct Not {
  template <typename V>
  static bool apply(const double*, V x) {
    return x.v == 0;
  }
};

struct Copy {
  template <typename V>
  static V apply(const double*, V x) {
    return x;
  }
};

/// Writes F of one to three inputs, whose elements are of types A, B and C, as elements of type
/// Out.
template <typename F, typename Out, typename A, typename B = void, typename C = void>
void pointwise_kernel(const PointwiseArgs& args) {
  constexpr int kOperands = std::is_same_v<B, void> ? 2 : std::is_same_v<C, void> ? 3 : 4;
  for (int64_t i = first_item(); i < args.walk.count; i += item_step()) {
    const Places<kOperands> places(args.walk, i);
    const auto in = [&](int k) { return args.data[k] + places.at[k]; };
    char* out = args.data[0] + places.at[0];
    if constexpr (kOperands == 2)
      store<Out>(out, F::apply(args.numbers, load<A>(in(1))));
    else if constexpr (kOperands == 3)
      store<Out>(out, F::apply(args.numbers, load<A>(in(1)), load<B>(in(2))));
    else
      store<Out>(out, F::apply(args.numbers, load<A>(in(1)), load<B>(in(2)), load<C>(in(3))));
  }
}

}  // namespace cuda
}  // namespace thalweg
