#include <algorithm>

#include "base/fail.h"
#include "graph/passes.h"

namespace thalweg {
namespace {

constexpr size_t kMostBytes = 64 << 10;  // beyond, reading it costs as much as making it

IntrusivePtr<TensorImpl> tensor_at(const PlanGraph& graph, const TraceOperand& operand) {
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  impl->meta = operand.meta;
  impl->alias(graph.buffers[operand.buffer].storage);
  return impl;
}

bool is_constant(const PlanGraph& graph, const TraceOperand& operand) {
  return operand.buffer == kNoIndex ||
         graph.buffers[operand.buffer].kind == PlanBuffer::Kind::constant;
}

void fold(PlanGraph& graph, const PlanRecord& r) {
  PlanBuffer& buffer = graph.buffers[r.outputs[0].buffer];
  buffer.kind = PlanBuffer::Kind::constant;
  buffer.storage = Storage::allocate(buffer.device, buffer.bytes);
  std::vector<IntrusivePtr<TensorImpl>> keep;
  std::vector<const TensorImpl*> inputs;
  for (const TraceOperand& in : r.inputs) {
    keep.push_back(in.buffer == kNoIndex ? nullptr : tensor_at(graph, in));
    inputs.push_back(keep.back().get());
  }
  keep.push_back(tensor_at(graph, r.outputs[0]));
  TensorImpl* const output[] = {keep.back().get()};
  r.kernel.run(KernelContext(*r.op, r.attrs.data(), inputs, output));
}

}  // namespace

void fold_constants(PlanGraph& graph) {
  const std::vector<uint32_t> writers = writer_counts(graph);
  const size_t before = graph.records.size();
  std::erase_if(graph.records, [&](const PlanRecord& r) {
    if (!makes_value(graph, r, writers) || r.op->flags.random || checks_elements(r)) return false;
    if (graph.buffers[r.outputs[0].buffer].bytes > kMostBytes) return false;
    const bool folds = std::ranges::all_of(
        r.inputs, [&](const TraceOperand& in) { return is_constant(graph, in); });
    if (folds) fold(graph, r);
    return folds;
  });
  if (const size_t gone = before - graph.records.size())
    graph.notes.push_back(fmt::format("{} records of constants computed once", gone));
}

}  // namespace thalweg
