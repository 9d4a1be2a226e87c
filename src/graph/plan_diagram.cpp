#include "graph/plan_diagram.h"

#include <set>

#include <fmt/format.h>

#include "graph/diagram_colours.h"
#include "graph/fusion.h"

namespace thalweg {
namespace {

class Drawing {
 public:
  explicit Drawing(const PlanGraph& graph) : graph_(graph), writers_(graph.buffers.size()) {}

  Diagram draw() && {
    for (size_t i = 0; i < graph_.buffers.size(); ++i) {
      const PlanBuffer& buffer = graph_.buffers[i];
      if (buffer.kind != PlanBuffer::Kind::argument) continue;
      writers_[i] = fmt::format("argument{}", buffer.index);
      const std::string label = fmt::format("argument {}", buffer.index);
      diagram_.nodes.push_back({writers_[i], label, "input", ""});
    }
    for (size_t i = 0; i < graph_.records.size(); ++i) add_record(i);
    for (size_t i = 0; i < graph_.results.size(); ++i) add_result(i);
    return std::move(diagram_);
  }

 private:
  void add_record(size_t number) {
    const PlanRecord& r = graph_.records[number];
    if (r.kind != TraceStep::Kind::kernel) return;
    const std::string id = fmt::format("record{}", number);
    const Op& op = r.body ? *r.body->parts.back().op : *r.op;
    const std::string kind(kind_of_op(op));
    diagram_.nodes.push_back({id, label_of(r), kind, r.body ? "tile by tile" : r.kernel.name});
    std::set<std::string> from;
    for (const TraceOperand& in : r.inputs) {
      if (in.buffer == kNoIndex || writers_[in.buffer].empty()) continue;
      if (from.insert(writers_[in.buffer]).second) add_edge(in, id);
    }
    for (const TraceOperand& out : r.outputs) writers_[out.buffer] = id;
  }

  static std::string label_of(const PlanRecord& r) {
    if (!r.body) return r.op->name;
    std::string label;
    for (const FusedBody::Part& part : r.body->parts)
      label += (label.empty() ? "" : ", ") + std::string(part.op->name);
    return label;
  }

  void add_result(size_t number) {
    const TraceResult& r = graph_.results[number];
    if (r.kind != TraceResult::Kind::buffer || writers_[r.value.buffer].empty()) return;
    const std::string id = fmt::format("result{}", number);
    diagram_.nodes.push_back({id, fmt::format("result {}", number), "output", ""});
    add_edge(r.value, id);
  }

  void add_edge(const TraceOperand& operand, const std::string& to) {
    const std::string shape = dims_text(operand.meta.shape);
    const std::string dtype =
        operand.meta.dtype == DType::f32 ? "" : std::string(" ") + name(operand.meta.dtype);
    diagram_.edges.push_back({writers_[operand.buffer], to, shape + dtype});
  }

  const PlanGraph& graph_;
  std::vector<std::string> writers_;  // of each buffer: the node that wrote it last
  Diagram diagram_;
};

}  // namespace

std::string dims_text(const Shape& shape, size_t first) {
  std::string text;
  for (size_t i = first; i < shape.size(); ++i)
    text += (text.empty() ? "" : " x ") + std::to_string(shape[i]);
  return text;
}

Diagram diagram_of(const PlanGraph& graph) { return Drawing(graph).draw(); }

}  // namespace thalweg
