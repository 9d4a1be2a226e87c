#pragma once

// Functions whose gradient the user writes.
//
//   struct Sign : Function {   // straight-through: the gradient passes as it is
//     std::vector<Tensor> forward(std::span<const Tensor> x) override { return {sign(x[0])}; }
//     std::vector<Tensor> backward(std::span<const Tensor> g) override { return {g[0]}; }
//   };
//   Tensor y = apply(std::make_shared<Sign>(), {x})[0];

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// One call of a function with a gradient of its own. An object is used for one call: what forward
/// keeps in members is there for backward.
class THALWEG_API Function {
 public:
  virtual ~Function() = default;
  /// The outputs. Runs without recording.
  virtual std::vector<Tensor> forward(std::span<const Tensor> inputs) = 0;
  /// The gradients of the inputs, each of its input's shape and dtype or undefined for none, from
  /// those of the outputs; an output that no gradient reached has zeros. Runs recorded where
  /// gradients of gradients are wanted.
  virtual std::vector<Tensor> backward(std::span<const Tensor> output_grads) = 0;

 private:
  friend THALWEG_API std::vector<Tensor> apply(std::shared_ptr<Function> function,
                                               std::span<const Tensor> inputs);
  bool used_ = false;
};

/// Calls forward, and records the call if this thread records and an input leads to a leaf. Throws
/// Error{invalid} when the object was used before.
THALWEG_API std::vector<Tensor> apply(std::shared_ptr<Function> function,
                                      std::span<const Tensor> inputs);
inline std::vector<Tensor> apply(std::shared_ptr<Function> function,
                                 std::initializer_list<Tensor> inputs) {
  return apply(std::move(function), std::span(inputs.begin(), inputs.size()));
}

}  // namespace thalweg
