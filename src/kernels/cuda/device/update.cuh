#pragma once

// The rules that change weights; the formulas are those of thalweg/ops/optimizer.h, whose structs
// of numbers are the same here.

#include "kernels/cuda/device/elements.cuh"

namespace thalweg::cuda {

struct GradientNumbers {
  double scale, clip, weight_decay;
};

struct Sgd {
  GradientNumbers gradient;
  double learning_rate, momentum, mix, from_gradient, from_momentum;

  template <typename C>
  void apply(C& weight, C g, C* const (&state)[3]) const {
    C direction = g;
    if (state[0]) {
      *state[0] = C(momentum) * *state[0] + C(mix) * g;
      direction = C(from_gradient) * g + C(from_momentum) * *state[0];
    }
    weight -= C(learning_rate) * direction;
  }
};

struct Adam {
  GradientNumbers gradient;
  double keep, beta1, beta2, rate, root_factor, epsilon;

  template <typename C>
  void apply(C& weight, C g, C* const (&state)[3]) const {
    C &m = *state[0], &v = *state[1];
    m += C(1 - beta1) * (g - m);
    v = C(beta2) * v + C(1 - beta2) * g * g;
    weight = C(keep) * weight - C(rate) * m / (C(root_factor) * std::sqrt(v) + C(epsilon));
  }
};

struct RmsProp {
  GradientNumbers gradient;
  double learning_rate, alpha, epsilon, momentum;

  template <typename C>
  void apply(C& weight, C g, C* const (&state)[3]) const {
    C& square = *state[0];
    square = C(alpha) * square + C(1 - alpha) * g * g;
    C spread = square;
    if (state[1]) {
      *state[1] += C(1 - alpha) * (g - *state[1]);
      spread = square - *state[1] * *state[1];
    }
    C direction = g / (std::sqrt(spread) + C(epsilon));
    if (state[2]) direction = *state[2] = C(momentum) * *state[2] + direction;
    weight -= C(learning_rate) * direction;
  }
};

struct AdaGrad {
  GradientNumbers gradient;
  double learning_rate, epsilon;

  template <typename C>
  void apply(C& weight, C g, C* const (&state)[3]) const {
    *state[0] += g * g;
    weight -= C(learning_rate) * g / (std::sqrt(*state[0]) + C(epsilon));
  }
};

/// One row of blocks for each tensor, blockIdx.y; elements of its weight are of type T.
template <typename Rule, typename T>
void update_kernel(const UpdateArgs& args) {
  using C = ComputeType<T>;
  const Rule rule = reinterpret_cast<const Rule*>(args.numbers)[blockIdx.y];
  const UpdateTensor& t = args.tensor[blockIdx.y];
  const C clip = static_cast<C>(rule.gradient.clip);
  for (int64_t e = first_item(); e < t.count; e += item_step()) {
    C weight = static_cast<C>(reinterpret_cast<const T*>(t.weight)[e]);
    C g = static_cast<C>(reinterpret_cast<const T*>(t.gradient)[e]) *
          static_cast<C>(rule.gradient.scale);
    g = g > clip ? clip : g < -clip ? -clip : g;
    g += static_cast<C>(rule.gradient.weight_decay) * weight;
    C values[UpdateTensor::kMostStates];
    C* state[UpdateTensor::kMostStates];
    for (int s = 0; s < UpdateTensor::kMostStates; ++s) {
      state[s] = t.state[s] ? &values[s] : nullptr;
      values[s] = t.state[s] ? reinterpret_cast<const C*>(t.state[s])[e] : C(0);
    }
    rule.apply(weight, g, state);
    reinterpret_cast<T*>(t.new_weight)[e] = static_cast<T>(weight);
    for (int s = 0; s < UpdateTensor::kMostStates; ++s) {
      if (t.state[s]) reinterpret_cast<C*>(t.new_state[s])[e] = values[s];
    }
  }
}

}  // namespace thalweg::cuda
