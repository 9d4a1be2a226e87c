#include "graph/plan_text.h"

#include "base/fail.h"
#include "ops/explain.h"

namespace thalweg {
namespace {

size_t bytes_of(const TensorMeta& m) { return static_cast<size_t>(m.size()) * item_size(m.dtype); }

std::string operand_text(const PlanGraph& graph, const TraceOperand& operand) {
  if (operand.buffer == kNoIndex) return "none";
  static constexpr const char* kKinds[] = {"external", "argument", "constant",
                                           "gradient", "result",   "t"};
  return fmt::format("{}{} {} {}", kKinds[static_cast<int>(graph.buffers[operand.buffer].kind)],
                     operand.buffer, name(operand.meta.dtype), to_string(operand.meta.shape));
}

// Operands of the trace's kind, so that kernels can be asked.
class Asked {
 public:
  explicit Asked(const PlanRecord& r) {
    for (const TraceOperand& operand : r.inputs) add(operand);
    for (const TraceOperand& operand : r.outputs) add(operand);
    for (size_t i = 0; i < r.inputs.size(); ++i) in_.push_back(impls_[i].get());
    for (size_t i = r.inputs.size(); i < impls_.size(); ++i) out_.push_back(impls_[i].get());
  }
  KernelContext context(const PlanRecord& r) const { return {*r.op, r.attrs.data(), in_, out_}; }

 private:
  void add(const TraceOperand& operand) {
    impls_.emplace_back();
    if (operand.buffer == kNoIndex) return;
    impls_.back() = TensorImpl::create();
    TensorImpl& impl = *impls_.back();
    impl.meta = operand.meta;
    impl.count = operand.meta.size();
    impl.row_major = operand.meta.is_contiguous();
  }

  std::vector<IntrusivePtr<TensorImpl>> impls_;
  std::vector<const TensorImpl*> in_;
  std::vector<TensorImpl*> out_;
};

std::string kernel_text(const PlanRecord& r) {
  const auto device = static_cast<int>(r.outputs[0].meta.device.kind);
  for (const Kernel& kernel : r.op->kernels[device].all()) {
    if (kernel.run != r.kernel.run) continue;
    const Asked asked(r);
    return explain_choice(asked.context(r), r.outputs[0].meta.device);
  }
  return r.kernel.name;
}

std::string record_text(const PlanGraph& graph, const PlanRecord& r, size_t number) {
  switch (r.kind) {
    case TraceStep::Kind::draw:
      return fmt::format("  {:>4}  draw {} blocks of random numbers\n", number, r.blocks);
    case TraceStep::Kind::host:
      return fmt::format("  {:>4}  host: {}\n", number, r.host.name);
    case TraceStep::Kind::backward:
      return fmt::format("  {:>4}  gradients of {} leaves are there\n", number, r.gradients.size());
    case TraceStep::Kind::end_host:
      return {};
    case TraceStep::Kind::kernel:
      break;
  }
  std::string inputs, outputs;
  size_t bytes = 0;
  const auto add = [&](std::string& list, const TraceOperand& operand) {
    if (!list.empty()) list += ", ";
    list += operand_text(graph, operand);
    if (operand.buffer != kNoIndex) bytes += bytes_of(operand.meta);
  };
  for (const TraceOperand& operand : r.inputs) add(inputs, operand);
  for (const TraceOperand& operand : r.outputs) add(outputs, operand);
  return fmt::format("  {:>4}  {} = {}({}); {} bytes; {}\n", number, outputs, r.op->name, inputs,
                     bytes, kernel_text(r));
}

}  // namespace

std::string explain_counts(const PlanCounts& c) {
  std::string text =
      fmt::format("{} calls: {} replayed, {} traced, {} eager; {} plans made",
                  c.replayed + c.traced + c.eager, c.replayed, c.traced, c.eager, c.plans);
  if (c.evicted) text += fmt::format(", {} signatures given up for newer ones", c.evicted);
  return text + "\n";
}

std::string explain_program(const Program& program) {
  const PlanGraph& graph = program.graph();
  const MemoryPlan& memory = program.memory();
  std::string text = fmt::format(
      "  {} records; temporaries in {} bytes, {:.3f} times the {} that live at once; {} outputs in "
      "place\n",
      graph.records.size(), memory.bytes,
      memory.peak ? static_cast<double>(memory.bytes) / static_cast<double>(memory.peak) : 1.0,
      memory.peak, memory.in_place);
  for (const std::string& note : graph.notes) text += "  " + note + "\n";
  const auto times = static_cast<double>(program.measured());
  for (size_t i = 0; i < graph.records.size(); ++i) {
    std::string line = record_text(graph, graph.records[i], i);
    if (!line.empty() && times > 0)
      line.insert(0, fmt::format("{:>10.3f} us", program.seconds()[i] * 1e6 / times));
    text += line;
  }
  return text;
}

}  // namespace thalweg
