#include "graph/plan_graph.h"

#include <algorithm>
#include <cstring>

#include "base/fail.h"

namespace thalweg {
namespace {

void run_copy(const KernelContext& ctx) {
  const size_t bytes = static_cast<size_t>(ctx.out().count);
  if (bytes)
    copy_bytes(ctx.out().meta.device, ctx.out().data, ctx.in(0).meta.device, ctx.in(0).data, bytes);
}

// Not in the table: it sees bytes, not elements.
const Op kCopyBuffer{.name = "copy_buffer",
                     .doc = "The bytes of a buffer.",
                     .inputs = "x",
                     .flags = {.internal = true},
                     .infer = nullptr,
                     .no_gradient = "it is part of a plan",
                     .reference = run_copy};

TraceOperand all_bytes(uint32_t buffer, const PlanBuffer& b) {
  TraceOperand operand{buffer, {}};
  operand.meta.dtype = DType::u8;
  operand.meta.device = b.device;
  operand.meta.set_row_major({static_cast<int64_t>(b.bytes)});
  return operand;
}

PlanBuffer::Kind kind_of(const TraceBuffer& b) {
  switch (b.kind) {
    case TraceBuffer::Kind::external:
      return PlanBuffer::Kind::external;
    case TraceBuffer::Kind::argument:
      return PlanBuffer::Kind::argument;
    case TraceBuffer::Kind::born:
      break;
  }
  return b.content && !b.written ? PlanBuffer::Kind::constant : PlanBuffer::Kind::temporary;
}

std::vector<PlanBuffer> buffers_of(const Trace& trace) {
  std::vector<PlanBuffer> buffers;
  for (const TraceBuffer& b : trace.buffers()) {
    PlanBuffer& buffer = buffers.emplace_back();
    buffer.kind = kind_of(b);
    buffer.bytes = b.bytes;
    buffer.device = b.device;
    if (b.kind == TraceBuffer::Kind::argument) buffer.index = b.argument;
    buffer.storage = buffer.kind == PlanBuffer::Kind::constant ? b.content : b.storage;
  }
  for (uint32_t i = 0; i < trace.gradients().size(); ++i) {
    PlanBuffer& buffer = buffers[trace.gradients()[i].value.buffer];
    if (buffer.kind != PlanBuffer::Kind::temporary && buffer.kind != PlanBuffer::Kind::constant)
      continue;
    buffer.kind = PlanBuffer::Kind::gradient;
    buffer.index = i;
    buffer.storage.reset();
  }
  for (const TraceResult& r : trace.results()) {
    if (r.kind != TraceResult::Kind::buffer) continue;
    PlanBuffer& buffer = buffers[r.value.buffer];
    if (buffer.kind != PlanBuffer::Kind::temporary && buffer.kind != PlanBuffer::Kind::constant)
      continue;
    buffer.kind = PlanBuffer::Kind::result;
    buffer.storage.reset();
  }
  return buffers;
}

PlanRecord record_of(const Trace& trace, const TraceStep& step) {
  PlanRecord r;
  r.kind = step.kind;
  r.op = step.op;
  r.kernel = step.kernel;
  r.draw = step.draw;
  r.blocks = step.blocks;
  r.host = step.host;
  if (step.kind == TraceStep::Kind::kernel) {
    const auto in = trace.inputs(step), out = trace.outputs(step);
    r.inputs.assign(in.begin(), in.end());
    r.outputs.assign(out.begin(), out.end());
    r.attrs = AttrBytes(trace.attrs(step), step.op->attrs().bytes);
  } else if (step.kind == TraceStep::Kind::backward) {
    for (const auto& leaf : trace.leaves(step)) {
      for (uint32_t i = 0; leaf && i < trace.gradients().size(); ++i) {
        if (trace.gradients()[i].leaf == leaf) r.gradients.push_back(i);
      }
    }
  }
  return r;
}

// Puts in what the host had written into buffers that are not constant, before their first use.
void add_contents(const Trace& trace, PlanGraph& graph) {
  const std::vector<Lifetime> lives = lifetimes(graph);
  std::vector<std::pair<uint32_t, PlanRecord>> copies;
  for (uint32_t i = 0; i < trace.buffers().size(); ++i) {
    const TraceBuffer& b = trace.buffers()[i];
    if (!b.content || graph.buffers[i].kind == PlanBuffer::Kind::constant) continue;
    PlanBuffer constant;
    constant.kind = PlanBuffer::Kind::constant;
    constant.bytes = b.bytes;
    constant.device = b.device;
    constant.storage = b.content;
    PlanRecord copy;
    copy.op = &kCopyBuffer;
    copy.kernel = {"copy", nullptr, run_copy};
    copy.inputs.push_back(all_bytes(static_cast<uint32_t>(graph.buffers.size()), constant));
    copy.outputs.push_back(all_bytes(i, constant));
    graph.buffers.push_back(constant);
    const size_t first = std::min<size_t>(lives[i].first, graph.records.size());
    copies.emplace_back(static_cast<uint32_t>(first), std::move(copy));
  }
  std::ranges::stable_sort(copies, std::greater(), [](const auto& c) { return c.first; });
  for (auto& [at, copy] : copies) graph.records.insert(graph.records.begin() + at, std::move(copy));
}

}  // namespace

AttrBytes::AttrBytes(const void* attrs, size_t bytes)
    : units_((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)) {
  if (bytes) std::memcpy(units_.data(), attrs, bytes);
}

const Op& copy_buffer_op() { return kCopyBuffer; }

PlanGraph graph_of(const Trace& trace) {
  PlanGraph graph;
  graph.buffers = buffers_of(trace);
  for (const TraceStep& step : trace.steps()) {
    graph.records.push_back(record_of(trace, step));
    graph.records.back().origin = static_cast<uint32_t>(graph.records.size() - 1);
  }
  graph.gradients.assign(trace.gradients().begin(), trace.gradients().end());
  graph.results.assign(trace.results().begin(), trace.results().end());
  graph.externals.assign(trace.externals().begin(), trace.externals().end());
  add_contents(trace, graph);
  return graph;
}

std::vector<Lifetime> lifetimes(const PlanGraph& graph) {
  std::vector<Lifetime> lives(graph.buffers.size());
  for (uint32_t r = 0; r < graph.records.size(); ++r) {
    const auto touch = [&](const TraceOperand& operand) {
      if (operand.buffer == kNoIndex) return;
      Lifetime& life = lives[operand.buffer];
      life.first = std::min(life.first, r);
      life.last = std::max(life.last, r);
    };
    for (const TraceOperand& operand : graph.records[r].inputs) touch(operand);
    for (const TraceOperand& operand : graph.records[r].outputs) touch(operand);
  }
  return lives;
}

std::vector<uint32_t> writer_counts(const PlanGraph& graph) {
  std::vector<uint32_t> writers(graph.buffers.size());
  for (const PlanRecord& r : graph.records) {
    for (const TraceOperand& out : r.outputs) ++writers[out.buffer];
  }
  return writers;
}

bool makes_value(const PlanGraph& graph, const PlanRecord& record,
                 const std::vector<uint32_t>& writers) {
  if (record.kind != TraceStep::Kind::kernel || record.outputs.size() != 1) return false;
  const TraceOperand& out = record.outputs[0];
  const PlanBuffer& buffer = graph.buffers[out.buffer];
  if (buffer.kind != PlanBuffer::Kind::temporary || writers[out.buffer] != 1) return false;
  if (static_cast<size_t>(out.meta.size()) * item_size(out.meta.dtype) != buffer.bytes ||
      !out.meta.is_dense())
    return false;
  return std::ranges::none_of(record.inputs,
                              [&](const TraceOperand& in) { return in.buffer == out.buffer; });
}

bool checks_elements(const PlanRecord& record) {
  return record.op && !record.op->flags.pointwise &&
         std::ranges::any_of(record.inputs, [](const TraceOperand& in) {
           return in.buffer != kNoIndex && is_integer(in.meta.dtype);
         });
}

}  // namespace thalweg
