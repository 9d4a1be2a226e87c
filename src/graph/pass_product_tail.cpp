#include <algorithm>

#include "base/fail.h"
#include "graph/passes.h"
#include "graph/pointwise_run.h"
#include "graph/product_tail.h"
#include "tensor/same.h"

namespace thalweg {
namespace {

bool is_product(const PlanRecord& r) {
  if (r.kind != TraceStep::Kind::kernel || r.outputs.size() != 1 || !by_parts(r.kernel.run))
    return false;
  const TensorMeta& out = r.outputs[0].meta;
  return out.device.kind == DeviceKind::cpu && out.dtype == DType::f32 && out.is_contiguous();
}

// What the tail writes is a tensor of the plan alone, which the product neither reads nor writes.
bool may_write(const PlanGraph& graph, const PlanRecord& product, const TraceOperand& out) {
  using Kind = PlanBuffer::Kind;
  const Kind kind = graph.buffers[out.buffer].kind;
  if (kind != Kind::temporary && kind != Kind::result) return false;
  const auto is_out = [&](const TraceOperand& o) { return o.buffer == out.buffer; };
  return std::ranges::none_of(product.inputs, is_out) && !is_out(product.outputs[0]);
}

// The tail reads the product, whole and in its order.
bool reads(const PlanRecord& tail, const TraceOperand& product) {
  size_t count = 0;
  for (const TraceOperand& in : tail.inputs) {
    if (in.buffer != product.buffer) continue;
    if (!same_elements(in.meta, product.meta) || !same_layout(in.meta, product.meta)) return false;
    ++count;
  }
  return count == 1 && same_layout(tail.outputs[0].meta, product.meta);
}

bool fit(const PlanGraph& graph, const PlanRecord& product, const PlanRecord& tail) {
  if (!tail.body || !reads(tail, product.outputs[0])) return false;
  return std::ranges::all_of(
      tail.outputs, [&](const TraceOperand& out) { return may_write(graph, product, out); });
}

}  // namespace

void join_products_with_tails(PlanGraph& graph) {
  const std::vector<Lifetime> lives = lifetimes(graph);
  std::vector<PlanRecord> records;
  size_t count = 0;
  for (size_t i = 0; i < graph.records.size(); ++i) {
    PlanRecord& r = graph.records[i];
    if (is_product(r) && i + 1 < graph.records.size()) {
      const PlanRecord tail = as_run(graph, lives, i + 1);
      if (fit(graph, r, tail)) {
        records.push_back(with_tail(std::move(r), tail));
        ++count;
        ++i;
        continue;
      }
    }
    records.push_back(std::move(r));
  }
  graph.records = std::move(records);
  if (count)
    graph.notes.push_back(fmt::format("{} products go on with what follows them by rows", count));
}

}  // namespace thalweg
