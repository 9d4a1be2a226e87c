#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>

#include "base/fail.h"
#include "graph/backward.h"
#include "graph/leaf.h"
#include "graph/tape.h"
#include "ops/row_gradient.h"

namespace thalweg {

Record::Record(Mode mode)
    : outer_recorder_(thread_mode().recorder),
      outer_training_(thread_mode().training),
      outermost_(thread_tape().current() == nullptr) {
  if (outermost_) thread_tape().begin();
  thread_mode().recorder = &thread_tape();
  thread_mode().training = mode == Mode::training;
}

Record::~Record() {
  thread_mode().recorder = outer_recorder_;
  thread_mode().training = outer_training_;
  if (outermost_) thread_tape().end();
}

Pause::Pause(Mode mode)
    : outer_recorder_(thread_mode().recorder), outer_training_(thread_mode().training) {
  thread_mode().recorder = nullptr;
  thread_mode().training = mode == Mode::training;
}

Pause::~Pause() {
  thread_mode().recorder = outer_recorder_;
  thread_mode().training = outer_training_;
}

ModeScope::ModeScope(Mode mode) : outer_training_(thread_mode().training) {
  thread_mode().training = mode == Mode::training;
}

ModeScope::~ModeScope() { thread_mode().training = outer_training_; }

bool is_recording() { return thread_mode().recorder != nullptr; }
bool is_training() { return thread_mode().training; }

void backward(std::span<const Tensor> heads, std::span<const Tensor> head_grads,
              BackwardOptions options) {
  Backward pass(options, Backward::Target::leaves);
  pass.start(heads, head_grads);
  pass.run();
  pass.write_leaves();
}

std::vector<Tensor> grad(std::span<const Tensor> heads, std::span<const Tensor> variables,
                         std::span<const Tensor> head_grads, BackwardOptions options) {
  Backward pass(options, Backward::Target::tensors);
  pass.start(heads, head_grads);
  pass.run();
  return pass.take(variables);
}

// --- the part of Tensor that is about gradients ---

const Tensor& Tensor::attach_grad(GradReq req) const {
  if (!is_floating(dtype())) {
    fail_invalid("attach_grad: {} tensor of shape {}; only floating tensors have gradients",
                 name(dtype()), to_string(shape()));
  }
  if (impl_->is_recorded() && !segment_of(*impl_)->cleared()) {
    fail_invalid(
        "attach_grad: the tensor of shape {} is the result of a recorded op, and as a leaf would "
        "pass no gradient on to what it was computed from; attach_grad() before recording, or "
        "detach() first",
        to_string(shape()));
  }
  impl_->segment.reset();
  if (!impl_->leaf) impl_->leaf = std::make_unique<Leaf>();
  impl_->leaf->req = req;
  if (req == GradReq::null) {
    leaf_of(*impl_).grad = Tensor();
    leaf_of(*impl_).rows = {};
  }
  return *this;
}

GradReq Tensor::grad_req() const noexcept {
  return impl_ && impl_->leaf ? impl_->leaf->req : GradReq::null;
}

Tensor Tensor::grad() const {
  if (grad_req() == GradReq::null) {
    fail_invalid("grad: tensor of shape {} has no gradient; call attach_grad() before recording",
                 to_string(shape()));
  }
  Leaf& leaf = leaf_of(*impl_);
  leaf.make_dense(shape());
  if (!leaf.grad.defined()) leaf.grad = Tensor::zeros(shape(), {dtype(), device()});
  return leaf.grad;
}

void Tensor::zero_grad() const {
  if (grad_req() == GradReq::null) return;
  Leaf& leaf = leaf_of(*impl_);
  if (leaf.grad.defined()) leaf.grad.fill(0);
  if (leaf.rows.defined()) leaf.rows = no_rows(leaf.rows);
}

std::optional<RowGradient> row_gradient(const Tensor& leaf) {
  if (leaf.grad_req() == GradReq::null || !leaf_of(*leaf.impl()).rows.defined()) return {};
  return leaf_of(*leaf.impl()).rows;
}

void Tensor::backward() const { thalweg::backward(*this); }

void Tensor::backward(const Tensor& head) const {
  thalweg::backward(std::span(this, 1), std::span(&head, 1));
}

Tensor Tensor::detach() const { return make_view(*this, meta()); }

}  // namespace thalweg
