#pragma once

// Rows that change all weights of a net in one pass. Their first input is an f64 tensor on the cpu,
// [tensors, columns]: row i holds the numbers of tensor i's update, as one of the structs here.
// What follows are lists of as many tensors each: weights, gradients, and the rule's states; the
// outputs are new weights and states, which may lie over the old ones. All are row-major. A weight
// and its gradient have one floating dtype; states have that of the arithmetic, f64 for f64 weights
// and f32 for others.

#include <cstddef>
#include <limits>
#include <span>

#include <thalweg/ops/op.h>

namespace thalweg {

/// The gradient that a rule works with: g = clamp(scale * gradient, -clip, clip) + weight_decay *
/// weight.
struct GradientNumbers {
  double scale = 1;
  double clip = std::numeric_limits<double>::infinity();
  double weight_decay = 0;
};

/// m <- momentum * m + mix * g; weight <- weight - learning_rate * (from_gradient * g +
/// from_momentum * m). Without the state "momentum": weight <- weight - learning_rate * g.
struct SgdNumbers {
  GradientNumbers gradient;
  double learning_rate = 0;
  double momentum = 0;
  double mix = 1;
  double from_gradient = 0;
  double from_momentum = 1;
};

/// weight <- keep * weight; m <- m + (1 - beta1) * (g - m); v <- beta2 * v + (1 - beta2) * g * g;
/// weight <- weight - rate * m / (root_factor * sqrt(v) + epsilon). States m, v.
struct AdamNumbers {
  GradientNumbers gradient;
  double keep = 1;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double rate = 0;
  double root_factor = 1;
  double epsilon = 1e-8;
};

/// v <- alpha * v + (1 - alpha) * g * g; centered: a <- a + (1 - alpha) * (g - a), and v - a * a
/// stands for v below; d = g / (sqrt(v) + epsilon); with momentum: b <- momentum * b + d, d = b;
/// weight <- weight - learning_rate * d. States v, a if centered, b if there is momentum.
struct RmsPropNumbers {
  GradientNumbers gradient;
  double learning_rate = 0;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
};

/// s <- s + g * g; weight <- weight - learning_rate * g / (sqrt(s) + epsilon). State s.
struct AdaGradNumbers {
  GradientNumbers gradient;
  double learning_rate = 0;
  double epsilon = 1e-10;
};

struct SgdAttrs {
  int64_t tensors = 0;
  bool momentum = false;
  int64_t states() const { return momentum; }
  static auto fields() {
    return std::tuple{attr("tensors", &SgdAttrs::tensors, "how many weights there are"),
                      attr("momentum", &SgdAttrs::momentum, "there is the state m")};
  }
};

struct AdamAttrs {
  int64_t tensors = 0;
  int64_t states() const { return 2; }
  static auto fields() {
    return std::tuple{attr("tensors", &AdamAttrs::tensors, "how many weights there are")};
  }
};

struct RmsPropAttrs {
  int64_t tensors = 0;
  bool centered = false;
  bool momentum = false;
  int64_t states() const { return 1 + centered + momentum; }
  static auto fields() {
    return std::tuple{attr("tensors", &RmsPropAttrs::tensors, "how many weights there are"),
                      attr("centered", &RmsPropAttrs::centered, "there is the state a"),
                      attr("momentum", &RmsPropAttrs::momentum, "there is the state b")};
  }
};

struct AdaGradAttrs {
  int64_t tensors = 0;
  int64_t states() const { return 1; }
  static auto fields() {
    return std::tuple{attr("tensors", &AdaGradAttrs::tensors, "how many weights there are")};
  }
};

/// The rows; "sgd_update", "adam_update" (Adam and AdamW), "rmsprop_update", "adagrad_update".
THALWEG_API const Op& sgd_update_op();
THALWEG_API const Op& adam_update_op();
THALWEG_API const Op& rmsprop_update_op();
THALWEG_API const Op& adagrad_update_op();

/// "global_norm": the root of the sum of squares over all elements of all inputs, floating, as an
/// f64 tensor without dimensions; summed in f64 in an order that depends on nothing but the sizes.
THALWEG_API const Op& global_norm_op();

/// Runs a row on outputs that exist, which its inputs may lie over. Not recorded; counts as a
/// change of the outputs in place. Nothing is inferred: whoever calls it again and again checks the
/// arguments once, by check_update(). Takes no memory from the heap.
THALWEG_API void run_update(const Op& op, const void* attrs,
                            std::span<const TensorImpl* const> inputs,
                            std::span<TensorImpl* const> outputs);

/// Throws Error{invalid} where the inputs are not what the row takes.
THALWEG_API void check_update(const Op& op, const void* attrs,
                              std::span<const TensorImpl* const> inputs);

}  // namespace thalweg
