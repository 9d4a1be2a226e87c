#include "graph/call_tracer.h"

namespace thalweg {
namespace {

constinit thread_local CallTracer* t_call = nullptr;  // not the only kind of tracer

}  // namespace

CallTracer* active_trace() {
  const Tracer* tracer = thread_mode().tracer;
  return tracer && tracer == t_call ? t_call : nullptr;
}

void CallScope::start(CallTracer& tracer, HostObserver& observer, Storage::Watcher& watcher) {
  active_ = true;
  outer_tracer_ = std::exchange(thread_mode().tracer, &tracer);
  outer_call_ = std::exchange(t_call, &tracer);
  outer_observer_ = set_host_observer(&observer);
  outer_watcher_ = Storage::set_watcher(&watcher);
}

void CallScope::pause() const {
  thread_mode().tracer = nullptr;
  set_host_observer(nullptr);
}

void CallScope::stop() {
  if (!std::exchange(active_, false)) return;
  thread_mode().tracer = outer_tracer_;
  t_call = outer_call_;
  set_host_observer(outer_observer_);
  Storage::set_watcher(outer_watcher_);
}

void CallScope::run(const Kernel& kernel, const KernelContext& context) const {
  const Unobserved inside(nullptr);
  outer_tracer_ ? outer_tracer_->run(kernel, context) : kernel.run(context);
}

}  // namespace thalweg
