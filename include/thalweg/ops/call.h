#pragma once

// call() is the one way to run an op: it checks, infers, picks a kernel, runs it and tells the
// recorder.

#include <span>
#include <string>
#include <vector>

#include <thalweg/base/random.h>
#include <thalweg/ops/op.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Learns of every op that runs on its thread: the tape.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void record(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
                      std::span<TensorImpl* const> outputs) = 0;
};

/// What the host does between kernels and a replay has to do again, such as filling in numbers that
/// a kernel reads.
struct HostWork {
  const char* name = nullptr;
  /// False: what was traced from here to the next end_host() is left out this time.
  bool (*run)(void* object, int64_t argument) = nullptr;
  void* object = nullptr;
  int64_t argument = 0;

  friend bool operator==(const HostWork&, const HostWork&) = default;
};

/// Learns of everything on its thread that changes elements, in order: the trace of a plan.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Runs the kernel.
  virtual void run(const Kernel& kernel, const KernelContext& context) = 0;
  /// Numbers for an op's `seed` and `offset` were taken out of the default sequence.
  virtual void drew(RandomState first, uint64_t blocks) = 0;
  virtual void host(const HostWork& work) = 0;
  virtual void end_host() = 0;
  /// Something happened that no replay can do again.
  virtual void refuse(std::string reason) = 0;
};

/// The state of the calling thread that ops look at.
struct ThreadMode {
  Recorder* recorder = nullptr;  // null: nothing is kept
  Tracer* tracer = nullptr;      // null: kernels just run
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

/// Runs a kernel, and lets the thread's tracer know.
inline void run_kernel(const Kernel& kernel, const KernelContext& context) {
  if (Tracer* tracer = thread_mode().tracer) [[unlikely]]
    tracer->run(kernel, context);
  else
    kernel.run(context);
}

/// Why every kernel before the chosen one was passed over, one line each.
THALWEG_API std::string explain_choice(const KernelContext& context, Device device);

}  // namespace thalweg
