// What a call put off runs after all, as it does something else than planned.

#include "graph/leaf.h"
#include "graph/verifier.h"

namespace thalweg {

void Verifier::differ(std::string what) {
  if (mode_ == Mode::passing) return;
  difference_ = std::move(what);
  differs_by_host_ = after_host_;
  if (mode_ == Mode::deferring)
    release(Mode::passing);
  else
    mode_ = Mode::passing;
}

void Verifier::release(Mode then) {
  mode_ = then;
  for (const Saved& s : saved_) put_bytes(*s.storage, s.bytes);
  saved_.clear();
  run_late(false);
}

// Memory of a buffer that is to begin anew: its own, or, as nobody else has it any more, another.
IntrusivePtr<Storage> Verifier::late_place(uint32_t buffer) const {
  const TraceBuffer& b = trace_.buffers()[buffer];
  Storage* const own = seen_[buffer].storage;
  IntrusivePtr<Storage> place =
      own ? IntrusivePtr<Storage>::share(own) : Storage::allocate(b.device, b.bytes);
  if (b.content && b.bytes)
    copy_bytes(b.device, place->data(), b.device, b.content->data(), b.bytes);
  return place;
}

IntrusivePtr<TensorImpl> Verifier::late_operand(
    const TraceOperand& operand, std::span<const IntrusivePtr<Storage>> places) const {
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  impl->meta = operand.meta;
  const TraceBuffer& b = trace_.buffers()[operand.buffer];
  if (b.kind == TraceBuffer::Kind::argument)
    impl->meta.offset += argument_metas_[b.argument].offset;
  impl->alias(places[operand.buffer]);
  return impl;
}

void Verifier::run_late_step(const TraceStep& step, std::span<const IntrusivePtr<Storage>> places) {
  std::vector<IntrusivePtr<TensorImpl>> keep;
  std::vector<const TensorImpl*> inputs;
  std::vector<TensorImpl*> outputs;
  for (const TraceOperand& in : trace_.inputs(step)) {
    keep.push_back(in.buffer == kNoIndex ? nullptr : late_operand(in, places));
    inputs.push_back(keep.back().get());
  }
  for (const TraceOperand& out : trace_.outputs(step)) {
    keep.push_back(late_operand(out, places));
    outputs.push_back(keep.back().get());
  }
  scope_.run(step.kernel, KernelContext(*step.op, with_draw(step), inputs, outputs));
}

void Verifier::run_late(bool only_fixed) {
  std::vector<IntrusivePtr<Storage>> places(seen_.size());
  for (uint32_t i = 0; i < next_; ++i) {
    const TraceStep& step = trace_.steps()[i];
    if (step.kind != TraceStep::Kind::kernel || (only_fixed && !fixed_step_[i])) continue;
    const auto inputs = trace_.inputs(step), outputs = trace_.outputs(step);
    for (const auto operands : {inputs, outputs}) {
      for (const TraceOperand& o : operands) {
        if (o.buffer != kNoIndex && !places[o.buffer]) places[o.buffer] = late_place(o.buffer);
      }
    }
    try {
      run_late_step(step, places);
    } catch (...) {
      mode_ = Mode::passing;
      give_gradients_back(i);
      throw;
    }
    for (const auto operands : {inputs, outputs}) {
      for (const TraceOperand& o : operands) {
        if (o.buffer != kNoIndex && last_use_[o.buffer] == i) places[o.buffer].reset();
      }
    }
  }
}

// The eager call would have ended at the step, before it wrote gradients.
void Verifier::give_gradients_back(size_t step) noexcept {
  for (size_t i = 0; i < old_gradients_.size(); ++i) {
    if (first_backward_[i] < step) continue;
    Tensor& grad = leaf_of(*trace_.gradients()[i].leaf).grad;
    OldGradient& old = old_gradients_[i];
    if (!old.defined) {
      grad = Tensor();
    } else if (grad.defined() && old.storage) {
      grad.impl()->meta = old.meta;
      grad.impl()->alias(old.storage);
    }
  }
}

void Verifier::abandon() {
  scope_.pause();
  if (mode_ == Mode::deferring) release(Mode::passing);
}

}  // namespace thalweg
