// The same operations in the same order as the reference: the same bits for every target.

#include "kernels/simd/update_range.h"

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/update_range.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/convert-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

template <typename C>
HWY_INLINE Simd<C> root(Simd<C> x) {
  return hn::Sqrt(x.v);
}

// A rule holds its numbers as vectors; apply() changes the weight and the states.
template <typename C>
struct PlainSgd {
  using Numbers = SgdNumbers;
  static constexpr size_t kStates = 0;
  Simd<C> rate;
  explicit HWY_INLINE PlainSgd(const Numbers& n) : rate(n.learning_rate) {}
  HWY_INLINE void apply(Simd<C>& weight, Simd<C> g, Simd<C>*) const { weight = weight - rate * g; }
};

template <typename C>
struct MomentumSgd {
  using Numbers = SgdNumbers;
  static constexpr size_t kStates = 1;
  Simd<C> rate, momentum, mix, from_gradient, from_momentum;
  explicit HWY_INLINE MomentumSgd(const Numbers& n)
      : rate(n.learning_rate),
        momentum(n.momentum),
        mix(n.mix),
        from_gradient(n.from_gradient),
        from_momentum(n.from_momentum) {}
  HWY_INLINE void apply(Simd<C>& weight, Simd<C> g, Simd<C>* state) const {
    state[0] = momentum * state[0] + mix * g;
    weight = weight - rate * (from_gradient * g + from_momentum * state[0]);
  }
};

template <typename C>
struct Adam {
  using Numbers = AdamNumbers;
  static constexpr size_t kStates = 2;
  Simd<C> keep, mean_rate, beta2, square_rate, rate, root_factor, epsilon;
  explicit HWY_INLINE Adam(const Numbers& n)
      : keep(n.keep),
        mean_rate(1 - n.beta1),
        beta2(n.beta2),
        square_rate(1 - n.beta2),
        rate(n.rate),
        root_factor(n.root_factor),
        epsilon(n.epsilon) {}
  HWY_INLINE void apply(Simd<C>& weight, Simd<C> g, Simd<C>* state) const {
    state[0] = state[0] + mean_rate * (g - state[0]);
    state[1] = beta2 * state[1] + square_rate * g * g;
    weight = keep * weight - rate * state[0] / (root_factor * root(state[1]) + epsilon);
  }
};

template <typename C, bool kCentered, bool kMomentum>
struct RmsProp {
  using Numbers = RmsPropNumbers;
  static constexpr size_t kStates = 1 + kCentered + kMomentum;
  Simd<C> rate, alpha, mix, epsilon, momentum;
  explicit HWY_INLINE RmsProp(const Numbers& n)
      : rate(n.learning_rate),
        alpha(n.alpha),
        mix(1 - n.alpha),
        epsilon(n.epsilon),
        momentum(n.momentum) {}
  HWY_INLINE void apply(Simd<C>& weight, Simd<C> g, Simd<C>* state) const {
    state[0] = alpha * state[0] + mix * g * g;
    Simd<C> spread = state[0];
    if constexpr (kCentered) {
      state[1] = state[1] + mix * (g - state[1]);
      spread = state[0] - state[1] * state[1];
    }
    Simd<C> direction = g / (root(spread) + epsilon);
    if constexpr (kMomentum) {
      direction = momentum * state[1 + kCentered] + direction;
      state[1 + kCentered] = direction;
    }
    weight = weight - rate * direction;
  }
};

template <typename C>
struct AdaGrad {
  using Numbers = AdaGradNumbers;
  static constexpr size_t kStates = 1;
  Simd<C> rate, epsilon;
  explicit HWY_INLINE AdaGrad(const Numbers& n) : rate(n.learning_rate), epsilon(n.epsilon) {}
  HWY_INLINE void apply(Simd<C>& weight, Simd<C> g, Simd<C>* state) const {
    state[0] = state[0] + g * g;
    weight = weight - rate * g / (root(state[0]) + epsilon);
  }
};

// One vector of a range; `count` elements of it where kPartial.
template <typename T, typename Rule, bool kPartial>
HWY_INLINE void update_vector(const simd::UpdateRange& u, const Rule& rule,
                              const Simd<Compute<T>> (&gradient)[4], int64_t i, size_t count) {
  using C = Compute<T>;
  const auto load = [&]<typename E>(const void* p, E) HWY_ATTR {
    const E* from = static_cast<const E*>(p) + i;
    return kPartial ? Memory<E>::load_first(from, count) : Memory<E>::load(from);
  };
  const auto store = [&]<typename E>(Simd<C> x, void* p, E) HWY_ATTR {
    E* to = static_cast<E*>(p) + i;
    kPartial ? Memory<E>::store_first(x, to, count) : Memory<E>::store(x, to);
  };
  const auto& [scale, clip, minus_clip, decay] = gradient;
  Simd<C> weight = load(u.weight, T{});
  Simd<C> g = load(u.gradient, T{}) * scale;
  g = select(g > clip, clip, select(g < minus_clip, minus_clip, g));
  g = g + decay * weight;
  Simd<C> state[3] = {g, g, g};
  for (size_t s = 0; s < Rule::kStates; ++s) state[s] = load(u.state[s], C{});
  rule.apply(weight, g, state);
  store(weight, u.new_weight, T{});
  for (size_t s = 0; s < Rule::kStates; ++s) store(state[s], u.new_state[s], C{});
}

template <typename T, typename Rule>
void update(const simd::UpdateRange& u) {
  using C = Compute<T>;
  const auto& numbers = *static_cast<const typename Rule::Numbers*>(u.numbers);
  const Rule rule(numbers);
  const GradientNumbers& g = numbers.gradient;
  const Simd<C> gradient[4] = {g.scale, g.clip, -g.clip, g.weight_decay};
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<C>()));
  int64_t i = 0;
  for (; i + lanes <= u.n; i += lanes) update_vector<T, Rule, false>(u, rule, gradient, i, 0);
  if (i < u.n) {
    update_vector<T, Rule, true>(u, rule, gradient, i, static_cast<size_t>(u.n - i));
  }
}

template <typename T>
void fill_dtype(simd::UpdateTable& table) {
  using C = Compute<T>;
  const int dtype = static_cast<int>(dtype_of<T>);
  table.sgd[0][dtype] = update<T, PlainSgd<C>>;
  table.sgd[1][dtype] = update<T, MomentumSgd<C>>;
  table.adam[dtype] = update<T, Adam<C>>;
  table.rmsprop[0][0][dtype] = update<T, RmsProp<C, false, false>>;
  table.rmsprop[0][1][dtype] = update<T, RmsProp<C, false, true>>;
  table.rmsprop[1][0][dtype] = update<T, RmsProp<C, true, false>>;
  table.rmsprop[1][1][dtype] = update<T, RmsProp<C, true, true>>;
  table.adagrad[dtype] = update<T, AdaGrad<C>>;
}

void fill(simd::UpdateTable& table) {
  fill_dtype<float>(table);
  fill_dtype<double>(table);
  fill_dtype<Float16>(table);
  fill_dtype<BFloat16>(table);
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill);

void simd::fill_updates(UpdateTable& table) { HWY_DYNAMIC_DISPATCH(fill)(table); }
}  // namespace thalweg
#endif
