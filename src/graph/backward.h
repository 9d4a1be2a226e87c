#pragma once

#include <span>
#include <vector>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/vjp.h>

#include "graph/tape.h"

namespace thalweg {

/// One backward pass: the gradients of all values that the heads lead back to.
class Backward {
 public:
  explicit Backward(BackwardOptions options);
  ~Backward();

  void start(std::span<const Tensor> heads, std::span<const Tensor> head_grads);
  void run();
  /// Writes what reached the leaves, by their GradReq.
  void write_leaves();
  /// What reached these leaves.
  std::vector<Tensor> take(std::span<const Tensor> variables);

 private:
  struct Pending;  // a segment and the gradients of its values
  struct Reached {
    IntrusivePtr<TensorImpl> leaf;
    Tensor grad;
  };

  Pending& pending(Segment& segment);
  void walk(Pending& work);
  void differentiate(Pending& work, TapeRecord& record);
  void fill_context(Pending& work, const TapeRecord& record);
  Tensor saved_tensor(Segment& segment, uint32_t id, const Op& op);
  void pass_on(Pending& work, const TapeRecord& record);
  void let_go(Segment& segment, TapeRecord& record);
  void collect(Pending& work);
  void accumulate(Tensor& total, Tensor gradient);

  BackwardOptions options_;
  std::vector<Pending> pending_;
  std::vector<Reached> reached_;

  // Arguments of the vjp that runs.
  VjpContext context_;
  std::unique_ptr<bool[]> needs_;
  size_t needs_capacity_ = 0;
  std::vector<Tensor> out_grads_, saved_in_, saved_out_, results_;
  std::vector<const TensorMeta*> in_metas_, out_metas_;
};

}  // namespace thalweg
