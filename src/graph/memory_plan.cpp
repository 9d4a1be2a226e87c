#include "graph/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "tensor/same.h"

namespace thalweg {
namespace {

size_t rounded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool is_temporary(const PlanGraph& graph, uint32_t buffer) {
  return buffer != kNoIndex && graph.buffers[buffer].kind == PlanBuffer::Kind::temporary;
}

/// Buffers that lie over each other are one block.
class Blocks {
 public:
  explicit Blocks(const PlanGraph& graph)
      : graph_(graph),
        block_of_(graph.buffers.size()),
        over_(graph.buffers.size(), kNoIndex),
        lives_(lifetimes(graph)) {
    std::iota(block_of_.begin(), block_of_.end(), 0u);
    for (uint32_t r = 0; r < graph.records.size(); ++r) join_output(r);
  }

  uint32_t block_of(uint32_t buffer) const {
    while (block_of_[buffer] != buffer) buffer = block_of_[buffer];
    return buffer;
  }
  const Lifetime& life(uint32_t block) const { return lives_[block]; }
  size_t joined() const { return joined_; }
  const std::vector<uint32_t>& over() const { return over_; }

 private:
  void join_output(uint32_t record) {
    const PlanRecord& r = graph_.records[record];
    if (r.kind != TraceStep::Kind::kernel || !r.op->flags.in_place || r.outputs.size() != 1) return;
    const TraceOperand& out = r.outputs[0];
    if (!is_temporary(graph_, out.buffer) || lives_[out.buffer].first != record) return;
    const size_t candidates = r.op->flags.pointwise ? r.inputs.size() : 1;
    for (size_t i = 0; i < candidates && i < r.inputs.size(); ++i) {
      if (!may_lie_over(r, record, i)) continue;
      const uint32_t block = block_of(r.inputs[i].buffer);
      block_of_[out.buffer] = block;
      over_[out.buffer] = r.inputs[i].buffer;
      lives_[block].last = lives_[out.buffer].last;
      ++joined_;
      return;
    }
  }

  // Every operand in the block must be read where it is written, element by element.
  bool may_lie_over(const PlanRecord& r, uint32_t record, size_t i) const {
    const TraceOperand &in = r.inputs[i], &out = r.outputs[0];
    if (!is_temporary(graph_, in.buffer) || !same_elements(in.meta, out.meta)) return false;
    const uint32_t block = block_of(in.buffer);
    if (lives_[block].last != record) return false;
    if (graph_.buffers[in.buffer].bytes != graph_.buffers[out.buffer].bytes) return false;
    return std::ranges::all_of(r.inputs, [&](const TraceOperand& other) {
      return other.buffer == kNoIndex || block_of(other.buffer) != block ||
             same_elements(other.meta, out.meta);
    });
  }

  const PlanGraph& graph_;
  std::vector<uint32_t> block_of_, over_;
  std::vector<Lifetime> lives_;  // of the block, at its first buffer
  size_t joined_ = 0;
};

struct Placed {
  size_t begin, end;
  Lifetime life;
};

// The lowest gap among the blocks that live at the same time.
size_t lowest_gap(const std::vector<Placed>& placed, const Lifetime& life, size_t bytes) {
  size_t at = 0;
  for (const Placed& p : placed) {  // by their begin
    if (p.life.first > life.last || life.first > p.life.last) continue;
    if (p.begin >= at + bytes) break;
    at = std::max(at, p.end);
  }
  return at;
}

std::vector<size_t> live_bytes(const std::vector<Placed>& placed, size_t records) {
  std::vector<std::ptrdiff_t> change(records + 1);
  for (const Placed& p : placed) {
    const auto bytes = static_cast<std::ptrdiff_t>(p.end - p.begin);
    change[p.life.first] += bytes;
    change[p.life.last + 1] -= bytes;
  }
  std::vector<size_t> live(records);
  std::ptrdiff_t sum = 0;
  for (size_t i = 0; i < records; ++i) live[i] = static_cast<size_t>(sum += change[i]);
  return live;
}

}  // namespace

MemoryPlan plan_memory(const PlanGraph& graph) {
  const Blocks blocks(graph);
  MemoryPlan plan;
  plan.offsets.resize(graph.buffers.size());
  plan.in_place = blocks.joined();
  plan.over = blocks.over();
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < graph.buffers.size(); ++i) {
    if (is_temporary(graph, i) && blocks.block_of(i) == i && blocks.life(i).first != kNoIndex)
      order.push_back(i);
  }
  // Large ones first: small ones then fill the gaps.
  std::ranges::stable_sort(order, std::greater(),
                           [&](uint32_t i) { return graph.buffers[i].bytes; });
  std::vector<Placed> placed;
  for (const uint32_t i : order) {
    const size_t bytes = rounded(graph.buffers[i].bytes);
    const size_t at = lowest_gap(placed, blocks.life(i), bytes);
    plan.offsets[i] = at;
    plan.bytes = std::max(plan.bytes, at + bytes);
    const Placed p{at, at + bytes, blocks.life(i)};
    placed.insert(std::ranges::upper_bound(placed, at, {}, &Placed::begin), p);
  }
  for (uint32_t i = 0; i < graph.buffers.size(); ++i) {
    if (is_temporary(graph, i)) plan.offsets[i] = plan.offsets[blocks.block_of(i)];
  }
  plan.live = live_bytes(placed, graph.records.size());
  if (!plan.live.empty()) plan.peak = std::ranges::max(plan.live);
  return plan;
}

}  // namespace thalweg
