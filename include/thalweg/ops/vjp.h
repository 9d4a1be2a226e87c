#pragma once

#include <span>

#include <thalweg/ops/op.h>
#include <thalweg/ops/row_gradient.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// What an op's vjp sees: gradients of the outputs, the saved tensors, and which inputs want a
/// gradient. It calls set() for each of those; ops it calls are recorded when gradients of
/// gradients are wanted, so it needs no care for that.
class VjpContext {
 public:
  const Op& op() const { return *op_; }
  size_t inputs() const { return needs_.size(); }
  size_t outputs() const { return grads_.size(); }
  /// True if input i wants its gradient.
  bool needs(size_t i) const { return i < needs_.size() && needs_[i] != 0; }
  /// False if no gradient reached output i: it counts as zeros.
  bool has_grad(size_t output = 0) const { return grads_[output].defined(); }
  const Tensor& grad(size_t output = 0) const { return grads_[output]; }
  /// A tensor that the row's `saves` names for an input that needs its gradient.
  const Tensor& input(size_t i) const { return saved_inputs_[i]; }
  const Tensor& output(size_t i = 0) const { return saved_outputs_[i]; }
  const TensorMeta& input_meta(size_t i) const { return *input_metas_[i]; }
  const TensorMeta& output_meta(size_t i = 0) const { return *output_metas_[i]; }
  template <typename A>
  const A& attrs() const {
    return *static_cast<const A*>(attrs_);
  }
  /// True if this gradient will itself be differentiated: the vjp must then use ops that have
  /// gradients.
  bool creates_graph() const { return creates_graph_; }
  /// The gradient of input i, of its shape and dtype.
  void set(size_t i, Tensor gradient) { results_[i] = std::move(gradient); }
  /// True if the gradient of input i may be given as some of its rows, by set_rows().
  bool takes_rows(size_t i) const { return i < needs_.size() && needs_[i] == kTakesRows; }
  void set_rows(size_t i, RowGradient gradient) { rows_[i] = std::move(gradient); }

 private:
  friend class Backward;
  static constexpr uint8_t kTakesRows = 2;

  const Op* op_ = nullptr;
  const void* attrs_ = nullptr;
  bool creates_graph_ = false;
  std::span<const uint8_t> needs_;
  std::span<const Tensor> grads_;
  std::span<const Tensor> saved_inputs_;
  std::span<const Tensor> saved_outputs_;
  std::span<const TensorMeta* const> input_metas_;
  std::span<const TensorMeta* const> output_metas_;
  std::span<Tensor> results_;
  std::span<RowGradient> rows_;
};

}  // namespace thalweg
