#pragma once

// What looks at one call of a function: at its kernels, at the tape, at the host and at the ends of
// storages.

#include <utility>

#include <thalweg/ops/call.h>
#include <thalweg/tensor/impl.h>

namespace thalweg {

/// A tracer that sees backward passes too.
class CallTracer : public Tracer {
 public:
  /// A backward pass writes the gradients of leaves.
  virtual void begin_backward() = 0;
  virtual void wrote_gradient(TensorImpl& leaf) = 0;
  /// Backward walks a segment of the tape.
  virtual void walks(uint64_t segment_serial) = 0;
};

/// The one that traces the calling thread, or null.
CallTracer* active_trace();

/// Has a tracer, an observer and a watcher see what the thread does, until stop() or its end.
class CallScope {
 public:
  CallScope() = default;
  ~CallScope() { stop(); }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  void start(CallTracer& tracer, HostObserver& observer, Storage::Watcher& watcher);
  /// The function has returned: only the ends of storages are still seen.
  void pause() const;
  void stop();
  /// Runs the kernel for whoever traced before. What it does inside is its own matter.
  void run(const Kernel& kernel, const KernelContext& context) const;
  Tracer* outer() const { return outer_tracer_; }

 private:
  bool active_ = false;
  Tracer* outer_tracer_ = nullptr;
  CallTracer* outer_call_ = nullptr;
  HostObserver* outer_observer_ = nullptr;
  Storage::Watcher* outer_watcher_ = nullptr;
};

/// In its scope the thread is traced by `tracer` alone, null for nobody, and not observed.
class Unobserved {
 public:
  explicit Unobserved(Tracer* tracer)
      : tracer_(std::exchange(thread_mode().tracer, tracer)),
        observer_(set_host_observer(nullptr)) {}
  ~Unobserved() {
    thread_mode().tracer = tracer_;
    set_host_observer(observer_);
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  Tracer* tracer_;
  HostObserver* observer_;
};

}  // namespace thalweg
