#include "graph/profiler.h"

#include <thalweg/device/memory.h>

#include "graph/fusion.h"
#include "graph/record_cost.h"

namespace thalweg {
namespace {

constinit thread_local Profiler* t_profiler = nullptr;

// "add, relu": what runs together.
std::string label_of(const FusedBody& body) {
  std::string label;
  for (const FusedBody::Part& part : body.parts)
    label += (label.empty() ? "" : ", ") + std::string(part.op->name);
  return label;
}

}  // namespace

Profiler* active_profiler() {
  const Tracer* tracer = thread_mode().tracer;
  return tracer && tracer == t_profiler ? t_profiler : nullptr;
}

void set_profiler(Profiler* profiler) {
  t_profiler = profiler;
  thread_mode().tracer = profiler;
}

void Profiler::run(const Kernel& kernel, const KernelContext& context) {
  timed(kernel, context, nullptr, false);
}

void Profiler::run_planned(const Kernel& kernel, const KernelContext& context,
                           const FusedBody* body) {
  timed(kernel, context, body, true);
}

void Profiler::timed(const Kernel& kernel, const KernelContext& context, const FusedBody* body,
                     bool planned) {
  // Ops that a kernel calls are its own time.
  Tracer* const outer = std::exchange(thread_mode().tracer, nullptr);
  struct Restore {
    Tracer* tracer;
    ~Restore() { thread_mode().tracer = tracer; }
  } const restore{outer};
  const int64_t start = now();
  kernel.run(context);
  const int64_t nanoseconds = now() - start;
  const uint32_t number =
      body ? entry_of(label_of(*body), "tile by tile") : entry_of(context.op().name, kernel.name);
  const auto [operations, bytes] = cost_of(context, body);
  ProfileEntry& entry = entries_[number];
  ++entry.calls;
  entry.seconds += static_cast<double>(nanoseconds) * 1e-9;
  entry.operations += operations;
  entry.bytes += bytes;
  const size_t live = memory_stats().live;
  peak_memory_ = std::max(peak_memory_, live);
  keep({number, planned, nullptr, start, nanoseconds, operations, bytes, live});
}

uint32_t Profiler::entry_of(std::string_view op, std::string_view kernel) {
  if (const auto found = known_.find({op, kernel}); found != known_.end()) return found->second;
  const auto kept = [&](std::string_view text) {
    names_.push_back(std::make_unique<std::string>(text));
    return std::string_view(*names_.back());
  };
  const auto number = static_cast<uint32_t>(entries_.size());
  ProfileEntry& entry = entries_.emplace_back();
  entry.op = op;
  entry.kernel = kernel;
  known_[{kept(op), kept(kernel)}] = number;
  return number;
}

void Profiler::add_scope(const char* name, int64_t start, int64_t nanoseconds) {
  keep({kNoEntry, false, name, start, nanoseconds, 0, 0, memory_stats().live});
}

void Profiler::keep(const Event& event) {
  if (static_cast<int64_t>(events_.size()) < options_.events) {
    events_.push_back(event);
  } else {
    ++left_out_;
  }
}

}  // namespace thalweg
