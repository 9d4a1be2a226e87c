#include "graph/plan_text.h"

#include <set>

#include <thalweg/base/text.h>
#include <thalweg/base/threads.h>

#include "base/fail.h"
#include "graph/machine_rates.h"
#include "graph/record_cost.h"
#include "ops/explain.h"

namespace thalweg {
namespace {

bool is_kernel(const PlanRecord& r) { return r.kind == TraceStep::Kind::kernel; }

/// Costs of the records, and what was measured.
struct Costs {
  explicit Costs(const Program& program) : replays(program.measured()) {
    const std::vector<PlanRecord>& records = program.graph().records;
    for (size_t i = 0; i < records.size(); ++i) {
      records_.push_back(cost_of(records[i]));
      expected_.push_back(expected_seconds(records[i], records_[i]));
      all.operations += records_[i].operations;
      all.bytes += records_[i].bytes;
      all_expected += expected_[i];
      if (!replays) continue;
      measured_.push_back(program.seconds()[i] / static_cast<double>(replays));
      all_measured += measured_[i];
    }
  }

  const RecordCost& of(size_t i) const { return records_[i]; }
  double expected(size_t i) const { return expected_[i]; }
  double measured(size_t i) const { return measured_[i]; }

  int64_t replays;
  RecordCost all;
  double all_expected = 0, all_measured = 0;

 private:
  std::vector<RecordCost> records_;
  std::vector<double> expected_, measured_;
};

class ProgramText {
 public:
  explicit ProgramText(const Program& program)
      : graph_(program.graph()), memory_(program.memory()), costs_(program) {}

  std::string text() const {
    std::string text = heading();
    for (const std::string& note : graph_.notes) text += "  " + note + "\n";
    text += times() + columns();
    for (size_t i = 0; i < graph_.records.size(); ++i) text += line(i);
    return text;
  }

 private:
  std::string heading() const;
  std::string times() const;
  std::string columns() const;
  std::string line(size_t number) const;
  std::string record(const PlanRecord& r) const;
  std::string kernel_record(const PlanRecord& r) const;
  std::string operand(const TraceOperand& operand) const;
  std::string list(const std::vector<TraceOperand>& operands) const;

  const PlanGraph& graph_;
  const MemoryPlan& memory_;
  const Costs costs_;
};

std::string ProgramText::heading() const {
  std::set<uint32_t> leaves;
  for (const PlanRecord& r : graph_.records) leaves.insert(r.gradients.begin(), r.gradients.end());
  const double ratio =
      memory_.peak ? static_cast<double>(memory_.bytes) / static_cast<double>(memory_.peak) : 1.0;
  return fmt::format(
      "  {}{} records: {} operations, {} read and written\n"
      "  temporaries in {} bytes, {:.3f} times the {} that live at once; {} outputs in place\n",
      leaves.empty() ? "" : fmt::format("training: gradients of {} leaves; ", leaves.size()),
      graph_.records.size(), format_count(static_cast<uint64_t>(costs_.all.operations)),
      format_bytes(static_cast<uint64_t>(costs_.all.bytes)), memory_.bytes, ratio, memory_.peak,
      memory_.in_place);
}

std::string ProgramText::times() const {
  std::string text = fmt::format(
      "  expected: {} at the best rates of this machine with {} threads (see docs/plans.md)",
      format_duration(costs_.all_expected), num_threads());
  if (costs_.replays) {
    text += fmt::format("; measured: {}, the mean of {} replays",
                        format_duration(costs_.all_measured), costs_.replays);
  }
  return text + "\n";
}

std::string ProgramText::columns() const {
  return fmt::format("  {:>4}  {}{:>8}  {:>10}  {:>8}  record\n", "no.",
                     costs_.replays ? "measured  " : "", "expected", "operations", "bytes");
}

std::string ProgramText::line(size_t number) const {
  const PlanRecord& r = graph_.records[number];
  if (r.kind == TraceStep::Kind::end_host) return {};
  const RecordCost& cost = costs_.of(number);
  const auto cell = [&](std::string text) { return is_kernel(r) ? text : ""; };
  std::string text = fmt::format("  {:>4}  ", number);
  if (costs_.replays) text += fmt::format("{:>8}  ", format_duration(costs_.measured(number)));
  return text + fmt::format("{:>8}  {:>10}  {:>8}  {}\n",
                            cell(format_duration(costs_.expected(number))),
                            cell(format_count(static_cast<uint64_t>(cost.operations))),
                            cell(format_bytes(static_cast<uint64_t>(cost.bytes))), record(r));
}

std::string ProgramText::record(const PlanRecord& r) const {
  switch (r.kind) {
    case TraceStep::Kind::draw:
      return fmt::format("draw {} blocks of random numbers", r.blocks);
    case TraceStep::Kind::host:
      return fmt::format("host: {}", r.host.name);
    case TraceStep::Kind::backward:
      return fmt::format("gradients of {} leaves are there", r.gradients.size());
    default:
      return kernel_record(r);
  }
}

std::string kernel_text(const PlanRecord& r) {
  const Device device = r.outputs[0].meta.device;
  for (const Kernel& kernel : r.op->kernels[static_cast<int>(device.kind)].all()) {
    if (kernel.run != r.kernel.run) continue;
    const RecordOperands operands(r);
    return explain_choice(operands.context(), device);
  }
  return r.kernel.name;
}

std::string ProgramText::kernel_record(const PlanRecord& r) const {
  std::string text = fmt::format("{} = {}({})", list(r.outputs), r.op->name, list(r.inputs));
  if (const uint32_t over = memory_.over[r.outputs[0].buffer]; over != kNoIndex)
    text += fmt::format("; in place of t{}", over);
  if (r.stands_for) text += fmt::format("; shared by {} records", r.stands_for + 1);
  if (r.is_again) text += r.body ? "; in part again, for memory" : "; again, for memory";
  return text + "; " + kernel_text(r);
}

std::string ProgramText::list(const std::vector<TraceOperand>& operands) const {
  std::string text;
  for (const TraceOperand& o : operands) text += (text.empty() ? "" : ", ") + operand(o);
  return text;
}

std::string ProgramText::operand(const TraceOperand& operand) const {
  if (operand.buffer == kNoIndex) return "none";
  static constexpr const char* kKinds[] = {"external", "argument", "constant",
                                           "gradient", "result",   "t"};
  return fmt::format("{}{} {} {}", kKinds[static_cast<int>(graph_.buffers[operand.buffer].kind)],
                     operand.buffer, name(operand.meta.dtype), to_string(operand.meta.shape));
}

}  // namespace

std::string explain_counts(const PlanCounts& c) {
  std::string text =
      fmt::format("{} calls: {} replayed, {} traced, {} eager; {} plans made",
                  c.replayed + c.traced + c.eager, c.replayed, c.traced, c.eager, c.plans);
  if (c.evicted) text += fmt::format(", {} signatures given up for newer ones", c.evicted);
  return text + "\n";
}

std::string explain_program(const Program& program) { return ProgramText(program).text(); }

}  // namespace thalweg
