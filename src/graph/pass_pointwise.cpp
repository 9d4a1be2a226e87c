#include <algorithm>

#include "base/fail.h"
#include "graph/fusion.h"
#include "graph/passes.h"
#include "graph/pointwise_run.h"
#include "tensor/same.h"

namespace thalweg {
namespace {

// Below, everything stays in the cpu's cache from one record to the next without help.
constexpr int64_t kLeastElements = 16384;

bool is_scalar(const TraceOperand& operand) { return operand.meta.size() == 1; }

// An accelerator saves a launch by each record that is joined.
bool is_worth_it(const PlanRecord& r) {
  const TensorMeta& out = r.outputs[0].meta;
  if (out.device.kind == DeviceKind::cpu) return out.size() >= kLeastElements;
  const DeviceFusion* fusion = device_fusion(out.device.kind);
  return out.size() > 1 && fusion && fusion->takes(*r.op);
}

// A point-wise record whose operands all have the output's layout, without gaps, or one element.
bool can_be_joined(const PlanRecord& r) {
  if (r.kind != TraceStep::Kind::kernel || !r.op->flags.pointwise || r.op->flags.random)
    return false;
  if (r.outputs.size() != 1 || r.inputs.size() > FusedBody::kMostInputs) return false;
  const TraceOperand& out = r.outputs[0];
  if (!is_worth_it(r) || !out.meta.is_dense()) return false;
  return std::ranges::all_of(r.inputs, [&](const TraceOperand& in) {
    return in.buffer != kNoIndex && in.meta.device == out.meta.device &&
           (is_scalar(in) || same_layout(in.meta, out.meta));
  });
}

/// A run of records, begin to end.
struct Run {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

/// Joins the records of one run.
class Fuser {
 public:
  Fuser(PlanGraph& graph, const std::vector<Lifetime>& lives, Run run)
      : graph_(graph), lives_(lives), run_(run), body_(std::make_shared<FusedBody>()) {}

  PlanRecord fuse() {
    for (size_t i = run_.begin; i < run_.end; ++i) {
      const PlanRecord& r = graph_.records[i];
      for (const TraceOperand& in : r.inputs) {
        if (find(in) == kNoIndex) add(in, inputs_);
      }
      if (find(r.outputs[0]) == kNoIndex)
        add(r.outputs[0], lives_inside(r.outputs[0]) ? inner_ : outputs_);
      names_ += (names_.empty() ? "" : ", ") + std::string(r.op->name);
    }
    number();
    for (size_t i = run_.begin; i < run_.end; ++i) add_part(graph_.records[i]);
    const DeviceKind device = outputs_.empty() ? DeviceKind::cpu : outputs_[0].meta.device.kind;
    if (const DeviceFusion* fusion = device_fusion(device))
      body_->device_kernel = fusion->make(body_->as_run());
    body_->description = (body_->device_kernel ? "one kernel: " : "tile by tile: ") + names_;
    PlanRecord record = fused_record(body_, inputs_, outputs_);
    for (size_t i = run_.begin; i < run_.end; ++i) {
      record.stands_for += graph_.records[i].stands_for;
      record.is_again |= graph_.records[i].is_again;
    }
    return record;
  }

 private:
  using Operands = std::vector<TraceOperand>;

  bool lives_inside(const TraceOperand& o) const {
    const Lifetime& life = lives_[o.buffer];
    return graph_.buffers[o.buffer].kind == PlanBuffer::Kind::temporary &&
           life.first >= run_.begin && life.last < run_.end;
  }
  static uint32_t find_in(const Operands& list, const TraceOperand& o) {
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (list[i].buffer == o.buffer && same_elements(list[i].meta, o.meta)) return i;
    }
    return kNoIndex;
  }
  uint32_t find(const TraceOperand& o) const {
    for (const Operands* list : {&inputs_, &outputs_, &inner_}) {
      if (const uint32_t i = find_in(*list, o); i != kNoIndex) return i;
    }
    return kNoIndex;
  }
  static void add(const TraceOperand& o, Operands& list) { list.push_back(o); }

  // Operands that a record of the run writes move from the inputs to the outputs.
  void number() {
    for (size_t i = run_.begin; i < run_.end; ++i) {
      const TraceOperand& out = graph_.records[i].outputs[0];
      const uint32_t at = find_in(inputs_, out);
      if (at == kNoIndex) continue;
      outputs_.push_back(out);
      inputs_.erase(inputs_.begin() + at);
    }
    body_->inputs = inputs_.size();
    body_->outputs = outputs_.size();
    for (const Operands* list : {&inputs_, &outputs_, &inner_}) {
      for (const TraceOperand& o : *list) body_->operands.push_back({o.meta.dtype, is_scalar(o)});
    }
  }
  uint32_t number_of(const TraceOperand& o) const {
    if (const uint32_t i = find_in(inputs_, o); i != kNoIndex) return i;
    if (const uint32_t i = find_in(outputs_, o); i != kNoIndex)
      return static_cast<uint32_t>(inputs_.size()) + i;
    return static_cast<uint32_t>(inputs_.size() + outputs_.size()) + find_in(inner_, o);
  }
  void add_part(const PlanRecord& r) {
    FusedBody::Part part{r.op, r.kernel, r.attrs, {}, number_of(r.outputs[0])};
    for (const TraceOperand& in : r.inputs) part.inputs.push_back(number_of(in));
    body_->parts.push_back(std::move(part));
  }

  PlanGraph& graph_;
  const std::vector<Lifetime>& lives_;
  const Run run_;
  std::shared_ptr<FusedBody> body_;
  Operands inputs_, outputs_, inner_;
  std::string names_;
};

// True if the two touch one buffer in different places, and one of them writes it: then the order
// of elements counts.
bool clash(const PlanRecord& a, const PlanRecord& b) {
  const auto apart = [](const TraceOperand& x, const TraceOperand& y) {
    return x.buffer == y.buffer && x.buffer != kNoIndex && !same_elements(x.meta, y.meta);
  };
  const TraceOperand &out_a = a.outputs[0], &out_b = b.outputs[0];
  if (apart(out_a, out_b)) return true;
  return std::ranges::any_of(b.inputs, [&](const TraceOperand& in) { return apart(out_a, in); }) ||
         std::ranges::any_of(a.inputs, [&](const TraceOperand& in) { return apart(out_b, in); });
}

bool may_alias_arguments(const PlanGraph& graph, const PlanRecord& r) {
  return graph.buffers[r.outputs[0].buffer].kind == PlanBuffer::Kind::argument;
}

// The longest run from `begin` on.
Run run_from(const PlanGraph& graph, size_t begin) {
  Run run{begin, begin};
  const std::vector<PlanRecord>& records = graph.records;
  while (run.end < records.size() && run.size() < FusedBody::kMostParts) {
    const PlanRecord& next = records[run.end];
    if (!can_be_joined(next) || may_alias_arguments(graph, next)) break;
    bool fits =
        run.size() == 0 || same_layout(records[begin].outputs[0].meta, next.outputs[0].meta);
    for (size_t i = begin; i <= run.end && fits; ++i) fits = !clash(records[i], next);
    if (!fits) break;
    ++run.end;
  }
  return run;
}

}  // namespace

PlanRecord as_run(PlanGraph& graph, const std::vector<Lifetime>& lives, size_t record) {
  const PlanRecord& r = graph.records[record];
  const bool on_cpu = !r.outputs.empty() && r.outputs[0].meta.device.kind == DeviceKind::cpu;
  if (!on_cpu || r.body) return on_cpu ? r : PlanRecord();
  if (!can_be_joined(r) || may_alias_arguments(graph, r)) return {};
  return Fuser(graph, lives, {record, record + 1}).fuse();
}

void fuse_pointwise_runs(PlanGraph& graph) {
  const std::vector<Lifetime> lives = lifetimes(graph);
  std::vector<PlanRecord> records;
  size_t joined = 0;
  for (size_t i = 0; i < graph.records.size();) {
    const Run run = run_from(graph, i);
    if (run.size() < 2) {
      records.push_back(std::move(graph.records[i++]));
      continue;
    }
    records.push_back(Fuser(graph, lives, run).fuse());
    joined += run.size();
    i = run.end;
  }
  graph.records = std::move(records);
  if (joined)
    graph.notes.push_back(fmt::format("{} point-wise records joined to run by tiles", joined));
}

}  // namespace thalweg
