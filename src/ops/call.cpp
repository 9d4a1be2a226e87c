#include <mutex>

#include <thalweg/base/log.h>
#include <thalweg/ops/call.h>

#include "base/fail.h"
#include "ops/compose.h"
#include "ops/explain.h"
#include "tensor/same.h"

namespace thalweg {

constinit thread_local ThreadMode t_mode;

namespace {

// Kernels are registered at the first call of any op, by the composition root.
[[gnu::noinline]] void compose_once() {
  static std::once_flag once;
  std::call_once(once, compose);
}

[[gnu::cold]] void check_absent(const Op& op, size_t i) {
  if (is_optional_input(op, i)) return;
  fail_invalid("{}: input {} of ({}) is an undefined tensor", op.name, i, op.inputs);
}

void check_devices(const Op& op, std::span<const TensorImpl* const> inputs, Device device) {
  for (const TensorImpl* in : inputs) {
    if (in && in->meta.device != device) {
      fail_invalid("{}: inputs are on {} and {}; copy one with to(device)", op.name,
                   to_string(device), to_string(in->meta.device));
    }
  }
}

// Checks the inputs, makes the outputs and fills their metas.
void prepare(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
             std::span<TensorImpl* const> outputs) {
  if (!inputs.empty()) {
    if (!inputs[0]) [[unlikely]]
      check_absent(op, 0);
    const Device device = inputs[0]->meta.device;
    for (size_t i = 1; i < inputs.size(); ++i) {
      if (!inputs[i])
        check_absent(op, i);
      else if (inputs[i]->meta.device != device) [[unlikely]]
        check_devices(op, inputs, device);
    }
    for (TensorImpl* out : outputs) out->meta.device = device;
  }
  op.infer(InferContext(op, attrs, inputs, outputs));
}

void run(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
         std::span<TensorImpl* const> outputs) {
  prepare(op, attrs, inputs, outputs);
  if (op.flags.view) {
    for (TensorImpl* out : outputs) out->alias(inputs[0]->storage);
  } else {
    for (TensorImpl* out : outputs) out->allocate();
    const KernelContext context(op, attrs, inputs, outputs);
    if (op.flags.transfer)
      run_kernel({"transfer", nullptr, op.reference}, context);
    else
      run_kernel(choose_kernel(context, outputs[0]->meta.device), context);
  }
  if (Recorder* recorder = thread_mode().recorder) {
    recorder->record(op, attrs, inputs, outputs);
  }
}

// True if two positions name the same element, as in a broadcast view.
bool overlaps_itself(const TensorMeta& m) {
  bool repeats = false;
  for (size_t i = 0; i < m.shape.size(); ++i) {
    repeats = repeats || (m.strides[i] == 0 && m.shape[i] > 1);
  }
  return repeats && m.size() > 0;
}

void require_unrecorded(const Op& op, const TensorImpl& tensor, const char* role) {
  if (tensor.is_recorded() || tensor.is_leaf()) {
    fail_invalid(
        "{}: in-place change while recording; {} is part of the recorded computation, and its "
        "gradient would be lost; write out = {}(...), or use Pause",
        op.name, role, op.name);
  }
}

}  // namespace

void KernelList::add(const Kernel& kernel) {
  THALWEG_ASSERT(count_ < kCapacity);
  kernels_[count_++] = kernel;
}

Tensor call_one(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs) {
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  TensorImpl* const out[1] = {impl.get()};
  run(op, attrs, inputs, out);
  return Tensor(std::move(impl));
}

std::vector<Tensor> call_many(const Op& op, const void* attrs,
                              std::span<const TensorImpl* const> inputs) {
  const size_t count = op.outputs ? op.outputs : op.output_count(attrs);
  std::vector<Tensor> results;
  std::vector<TensorImpl*> outputs;
  results.reserve(count);
  outputs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    results.emplace_back(TensorImpl::create());
    outputs.push_back(results.back().impl());
  }
  if (count) run(op, attrs, inputs, outputs);
  return results;
}

void call_into(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
               const Tensor& out) {
  if (thread_mode().recorder) {
    require_unrecorded(op, *out.impl(), "the output");
    for (const TensorImpl* in : inputs) {
      if (in) require_unrecorded(op, *in, "an input");
    }
  }
  IntrusivePtr<TensorImpl> inferred = TensorImpl::create();
  TensorImpl* target[1] = {inferred.get()};
  prepare(op, attrs, inputs, target);
  const TensorMeta& wanted = inferred->meta;
  if (wanted.shape != out.shape() || wanted.dtype != out.dtype()) {
    fail_invalid("{}: result of shape {} {} does not fit in place into a tensor of shape {} {}",
                 op.name, to_string(wanted.shape), name(wanted.dtype), to_string(out.shape()),
                 name(out.dtype()));
  }
  if (overlaps_itself(out.meta())) {
    fail_invalid(
        "{}: in-place change of a broadcast view of shape {}, strides {}; clone() it first",
        op.name, to_string(out.shape()), to_string(out.strides()));
  }
  bool buffered = false;  // an input that overlaps the output otherwise than element on element
  for (const TensorImpl* in : inputs) {
    buffered = buffered || (in && in->storage == out.impl()->storage &&
                            !(op.flags.in_place && same_elements(in->meta, out.meta())));
  }
  if (buffered || (wanted.strides != out.strides() && !op.flags.pointwise)) {
    inferred->allocate();
    const KernelContext context(op, attrs, inputs, target);
    run_kernel(choose_kernel(context, out.device()), context);
    out.assign(Tensor(std::move(inferred)));
    return;
  }
  TensorImpl* const direct[1] = {out.impl()};
  const KernelContext context(op, attrs, inputs, direct);
  run_kernel(choose_kernel(context, out.device()), context);
  out.impl()->storage->bump_version();
}

const Kernel& choose_kernel(const KernelContext& context, Device device) {
  const Op& op = context.op();
  const KernelList& list = op.kernels[static_cast<int>(device.kind)];
  if (list.all().empty()) [[unlikely]]
    compose_once();
  for (const Kernel& kernel : list.all()) {
    if (!kernel.refuse || !kernel.refuse(context)) {
      if (log_enabled(LogLevel::info)) [[unlikely]]
        log_choice(context, device);
      return kernel;
    }
  }
  fail(ErrorKind::unavailable, "{}: no kernel for {} on {}; {}", op.name, describe_inputs(context),
       to_string(device), explain_choice(context, device));
}

}  // namespace thalweg
