#pragma once

// call() is the one way to run an op: it checks, infers, picks a kernel, runs it and tells the
// recorder.

#include <span>
#include <vector>

#include <thalweg/ops/op.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Learns of every op that runs on its thread: the tape, and the trace of a plan.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void record(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
                      std::span<TensorImpl* const> outputs) = 0;
};

/// The state of the calling thread that ops look at.
struct ThreadMode {
  Recorder* recorder = nullptr;  // null: nothing is kept
  bool training = false;         // dropout and batch norm act as in training
};

/// Initial-exec storage: looked at by every op, so an offset from the thread pointer, not a call.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local ThreadMode t_mode;

inline ThreadMode& thread_mode() { return t_mode; }

/// Runs an op of one output on tensors' impls; null for an absent optional input.
THALWEG_API Tensor call_one(const Op& op, const void* attrs,
                            std::span<const TensorImpl* const> inputs);
/// Runs an op of any number of outputs.
THALWEG_API std::vector<Tensor> call_many(const Op& op, const void* attrs,
                                          std::span<const TensorImpl* const> inputs);
/// Runs an op whose one output is written to `out`, which has the shape and dtype that the op
/// infers; inputs may overlap it. Counts as a change in place. Throws Error{invalid} while
/// recording if `out` or an input is part of the recorded computation.
THALWEG_API void call_into(const Op& op, const void* attrs,
                           std::span<const TensorImpl* const> inputs, const Tensor& out);

/// call(kSoftmax, SoftmaxAttrs{axis}, x): one output. Undefined tensors stand for absent inputs.
template <typename A, typename... Tensors>
Tensor call(const Op& op, const A& attrs, const Tensors&... inputs) {
  static_assert(!std::is_same_v<A, Tensor>, "attributes come before the inputs");
  const TensorImpl* const in[sizeof...(inputs) + 1] = {inputs.impl()..., nullptr};
  return call_one(op, &attrs, {in, sizeof...(inputs)});
}

/// The kernel that call() would run, for tests, benches and plans. Throws Error{unavailable} with
/// every kernel's reason when none can.
THALWEG_API const Kernel& choose_kernel(const KernelContext& context, Device device);

/// Why every kernel before the chosen one was passed over, one line each.
THALWEG_API std::string explain_choice(const KernelContext& context, Device device);

}  // namespace thalweg
