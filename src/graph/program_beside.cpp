// A replay in parts, beside a call of the function itself.

#include <algorithm>

#include <thalweg/base/clock.h>

#include "graph/profiler.h"
#include "graph/program.h"

namespace thalweg {

size_t Program::records_before(uint32_t trace_step) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (graph_.records[steps_[i].record].origin == trace_step && !steps_[i].run) return i;
  }
  return steps_.size();
}

void Program::begin_beside(std::span<const TensorImpl* const> arguments) {
  bind_arguments(arguments, false);
}

void Program::place_beside(uint32_t buffer, void* data) {
  const bool is_gradient = graph_.buffers[buffer].kind == PlanBuffer::Kind::gradient;
  Slot& slot = (is_gradient ? gradient_slots_ : result_slots_)[slot_of_[buffer]];
  slot.bound = 0;
  slot.show(data);
}

std::vector<uint32_t> Program::written(size_t begin, size_t end) const {
  std::vector<uint32_t> list;
  for (size_t i = begin; i < end; ++i) {
    for (const TraceOperand& out : graph_.records[steps_[i].record].outputs) {
      const PlanBuffer::Kind kind = graph_.buffers[out.buffer].kind;
      if (kind == PlanBuffer::Kind::external || kind == PlanBuffer::Kind::argument)
        list.push_back(out.buffer);
    }
  }
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

void Program::run_beside(size_t& at, size_t end) {
  Profiler* const profiler = active_profiler();
  const bool measures = !seconds_.empty() && !profiler;
  Stopwatch watch;
  for (; at < end; ++at) {
    const Step& step = steps_[at];
    if (!step.run) continue;
    const PlanRecord& record = graph_.records[step.record];
    if (measures) watch.restart();
    if (profiler)
      profiler->run_planned(record.kernel, step.context, record.body.get());
    else
      step.run(step.context);
    if (measures) seconds_[at] += watch.seconds();
  }
  if (measures && end == steps_.size()) ++measured_;
}

}  // namespace thalweg
