#include <thalweg/graph/autograd.h>
#include <thalweg/graph/function.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "graph/tape.h"

namespace thalweg {
namespace {

struct FunctionAttrs {
  Function* function = nullptr;  // the tape keeps it alive
  static auto fields() { return std::tuple{}; }
};

void vjp_function(VjpContext& ctx) {
  std::vector<Tensor> grads;
  for (size_t o = 0; o < ctx.outputs(); ++o) {
    const TensorMeta& meta = ctx.output_meta(o);
    grads.push_back(ctx.has_grad(o) ? ctx.grad(o)
                                    : Tensor::zeros(meta.shape, {meta.dtype, meta.device}));
  }
  std::vector<Tensor> results = ctx.attrs<FunctionAttrs>().function->backward(grads);
  if (results.size() != ctx.inputs()) {
    fail_invalid("Function: backward gave {} gradients for {} inputs", results.size(),
                 ctx.inputs());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!ctx.needs(i) || !results[i].defined()) continue;
    const TensorMeta& meta = ctx.input_meta(i);
    if (results[i].shape() != meta.shape || results[i].dtype() != meta.dtype) {
      fail_invalid("Function: backward gave a gradient {} {} for input {} of shape {} {}",
                   name(results[i].dtype()), to_string(results[i].shape()), i,
                   to_string(meta.shape), name(meta.dtype));
    }
    ctx.set(i, std::move(results[i]));
  }
}

// Not in the table: it has no life without the user's object.
const Op kFunction{.name = "function",
                   .doc = "A function with a gradient of its own.",
                   .inputs = "inputs...",
                   .attrs = attr_info<FunctionAttrs>,
                   .flags = {.internal = true},
                   .outputs = Op::kVariableOutputs,
                   .infer = nullptr,
                   .vjp = vjp_function};

}  // namespace

std::vector<Tensor> apply(std::shared_ptr<Function> function, std::span<const Tensor> inputs) {
  if (!function) fail_invalid("Function: apply() was given no object");
  if (function->used_) {
    fail_invalid("Function: this object was called before; make a new one for each call");
  }
  function->used_ = true;
  std::vector<Tensor> outputs;
  {
    Pause pause(is_training() ? Mode::training : Mode::prediction);
    outputs = function->forward(inputs);
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!outputs[o].defined()) fail_invalid("Function: forward left output {} undefined", o);
  }
  Recorder* recorder = thread_mode().recorder;
  if (!recorder) return outputs;
  // Outputs of their own: forward may have returned an input, or something it keeps.
  std::vector<const TensorImpl*> in;
  std::vector<TensorImpl*> out;
  for (const Tensor& x : inputs) in.push_back(x.impl());
  for (Tensor& y : outputs) {
    y = y.detach();
    out.push_back(y.impl());
  }
  const FunctionAttrs attrs{function.get()};
  recorder->record(kFunction, &attrs, in, out);
  if (recorder == &thread_tape()) thread_tape().current()->keep(std::move(function));
  return outputs;
}

}  // namespace thalweg
