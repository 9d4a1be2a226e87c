// Replays on accelerators: records launched as graphs have their operands at the same addresses in
// every call.

#include <algorithm>
#include <optional>

#include "base/fail.h"
#include "graph/launch_graphs.h"
#include "graph/program.h"

namespace thalweg {
namespace {

/// Bytes from an argument's first element to the end of the last that operands reach; none if one
/// lies before it.
std::optional<size_t> reach_of(const std::vector<TensorImpl*>& operands) {
  int64_t reach = 0;
  for (const TensorImpl* operand : operands) {
    const TensorMeta& m = operand->meta;
    if (operand->count == 0) continue;
    int64_t last = m.offset;
    for (size_t d = 0; d < m.shape.size(); ++d) {
      if (m.strides[d] < 0) return std::nullopt;
      last += (m.shape[d] - 1) * m.strides[d];
    }
    if (m.offset < 0) return std::nullopt;
    reach = std::max(reach, (last + 1) * static_cast<int64_t>(item_size(m.dtype)));
  }
  return static_cast<size_t>(reach);
}

}  // namespace

void Program::make_launch_graphs() {
  const bool on_accelerator = std::ranges::any_of(
      graph_.buffers, [](const PlanBuffer& b) { return b.device.kind != DeviceKind::cpu; });
  if (!on_accelerator) return;
  launch_note_ = graph_.notes.size();
  graph_.notes.emplace_back();
  for (const Slot& slot : argument_slots_) {
    if (!slot.written && reach_of(slot.operands)) continue;
    graph_.notes.back() =
        "launched record by record: an argument is changed in place, or views lie "
        "before its first element";
    return;
  }
  std::vector<LaunchGraphs::Step> steps;
  for (const Step& step : steps_)
    steps.push_back({step.run, &step.context, &graph_.records[step.record]});
  launch_graphs_ = std::make_unique<LaunchGraphs>(std::move(steps));
}

// Arguments and results on the device get places of their own; arguments are copied there.
void Program::fix_places() {
  const Device device = launch_graphs_->device();
  for (Slot& slot : argument_slots_) {
    if (graph_.buffers[slot.buffer].device != device) continue;
    const size_t bytes = *reach_of(slot.operands);
    if (!slot.fixed) slot.fixed = Storage::allocate(device, bytes);
    copy_bytes(device, slot.fixed->data(), device, slot.view->data(), bytes);
    slot.show(slot.fixed->data());
  }
  for (Slot& slot : result_slots_) {
    const PlanBuffer& buffer = graph_.buffers[slot.buffer];
    if (buffer.device != device) continue;
    if (!slot.fixed) slot.fixed = Storage::allocate(device, buffer.bytes);
    slot.show(slot.fixed->data());
  }
  gradient_places_.clear();
  for (const Slot& slot : gradient_slots_) gradient_places_.push_back(slot.view->data());
}

void Program::leave_fixed_places() {
  for (Slot& slot : result_slots_) {
    if (!slot.fixed) continue;
    const Device device = slot.fixed->device();
    copy_bytes(device, slot.made->data(), device, slot.fixed->data(), slot.fixed->bytes());
  }
}

void Program::run_launch_graphs() {
  fix_places();
  launch_graphs_->begin(gradient_places_);
  for (size_t i = 0; i < steps_.size();) {
    const size_t next = launch_graphs_->run(i);
    if (next == i) {
      i = run_step(i);
      continue;
    }
    for (; i < next; ++i) {
      const Step& step = steps_[i];
      for (uint32_t b = 0; b < step.bumps; ++b) bumps_[step.first_bump + b]->bump_version();
    }
  }
  leave_fixed_places();
  if (launch_graphs_->take_change()) graph_.notes[launch_note_] = launch_graphs_->describe();
}

}  // namespace thalweg
