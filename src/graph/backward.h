#pragma once

#include <memory>
#include <span>
#include <vector>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/vjp.h>

#include "graph/tape.h"

namespace thalweg {

/// The number of a new backward pass.
uint64_t next_backward_pass();

/// One backward pass: the gradients of all values that the heads lead back to.
class Backward {
 public:
  /// What a pass is for: gradients that leaves keep, which may have some rows only, or dense ones.
  enum class Target { leaves, tensors };
  Backward(BackwardOptions options, Target target);
  ~Backward();

  void start(std::span<const Tensor> heads, std::span<const Tensor> head_grads);
  void run();
  /// Writes what reached the leaves, by their GradReq.
  void write_leaves();
  /// What reached these leaves.
  std::vector<Tensor> take(std::span<const Tensor> variables);

 private:
  struct Pending {  // a segment and the gradients of its values
    IntrusivePtr<Segment> segment;
    std::vector<Tensor> grads;
  };
  struct Reached {
    IntrusivePtr<TensorImpl> leaf;
    Tensor grad;
  };
  struct ReachedRows {
    IntrusivePtr<TensorImpl> leaf;
    RowGradient grad;
  };
  /// Lists that a thread keeps from one pass to the next, so that a pass allocates nothing.
  struct Scratch {
    std::vector<Pending> pending;
    std::vector<std::vector<Tensor>> free_grads;
    std::vector<Reached> reached;
    std::vector<ReachedRows> reached_rows;
    std::vector<uint8_t> needs;
    std::vector<Tensor> out_grads, saved_in, saved_out, results;
    std::vector<RowGradient> rows;
    std::vector<const TensorMeta*> in_metas, out_metas;
  };
  /// The thread's lists while no pass has them.
  static std::unique_ptr<Scratch>& kept_scratch();

  Pending& pending(Segment& segment);
  void walk(Pending& work);
  void differentiate(Pending& work, TapeRecord& record);
  void fill_context(Pending& work, const TapeRecord& record);
  Tensor saved_tensor(Segment& segment, uint32_t id, const Op& op);
  void pass_on(Pending& work, const TapeRecord& record);
  void pass_on_rows(const TapeValue& value, const Op& op, RowGradient gradient);
  void let_go(Segment& segment, TapeRecord& record);
  void collect(Pending& work);
  void accumulate(Tensor& total, Tensor gradient);

  BackwardOptions options_;
  bool takes_rows_;
  bool finished_ = false;
  std::unique_ptr<Scratch> scratch_;
  VjpContext context_;  // of the vjp that runs
};

}  // namespace thalweg
