#include <algorithm>
#include <unordered_map>

#include "base/fail.h"
#include "graph/passes.h"
#include "tensor/same.h"

namespace thalweg {
namespace {

bool same_place(const TraceOperand& a, const TraceOperand& b) {
  return a.buffer == b.buffer && same_elements(a.meta, b.meta);
}

/// Records that make a value, with the count of writes of each input's buffer at that time.
class Known {
 public:
  explicit Known(const PlanGraph& graph) : graph_(graph), writes_(graph.buffers.size()) {}

  /// An earlier record that computed the same, or kNoIndex.
  uint32_t find(const PlanRecord& r) const {
    const auto [first, last] = by_op_.equal_range(r.op);
    for (auto it = first; it != last; ++it) {
      if (same(it->second, r)) return it->second.record;
    }
    return kNoIndex;
  }
  void add(uint32_t record) {
    Entry entry{record, {}};
    for (const TraceOperand& in : graph_.records[record].inputs) entry.writes.push_back(writes(in));
    by_op_.emplace(graph_.records[record].op, std::move(entry));
  }
  void wrote(const PlanRecord& r) {
    for (const TraceOperand& out : r.outputs) ++writes_[out.buffer];
  }

 private:
  struct Entry {
    uint32_t record;
    std::vector<uint32_t> writes;
  };

  uint32_t writes(const TraceOperand& in) const {
    return in.buffer == kNoIndex ? 0 : writes_[in.buffer];
  }
  bool same(const Entry& entry, const PlanRecord& r) const {
    const PlanRecord& known = graph_.records[entry.record];
    if (known.inputs.size() != r.inputs.size() || known.kernel.run != r.kernel.run ||
        known.outputs[0].meta.strides != r.outputs[0].meta.strides ||
        !equal(r.op->attrs(), known.attrs.data(), r.attrs.data()))
      return false;
    for (size_t i = 0; i < r.inputs.size(); ++i) {
      if (!same_place(known.inputs[i], r.inputs[i]) || entry.writes[i] != writes(r.inputs[i]))
        return false;
    }
    return true;
  }

  const PlanGraph& graph_;
  std::vector<uint32_t> writes_;
  std::unordered_multimap<const Op*, Entry> by_op_;
};

}  // namespace

void share_common_records(PlanGraph& graph) {
  const std::vector<uint32_t> writers = writer_counts(graph);
  std::vector<uint32_t> stands_for(graph.buffers.size());
  for (uint32_t i = 0; i < stands_for.size(); ++i) stands_for[i] = i;
  std::vector<bool> gone(graph.records.size());
  Known known(graph);
  for (uint32_t i = 0; i < graph.records.size(); ++i) {
    PlanRecord& r = graph.records[i];
    for (TraceOperand& in : r.inputs) {
      if (in.buffer != kNoIndex) in.buffer = stands_for[in.buffer];
    }
    const bool value = makes_value(graph, r, writers) && !r.op->flags.random;
    const uint32_t earlier = value ? known.find(r) : kNoIndex;
    if (earlier != kNoIndex) {
      stands_for[r.outputs[0].buffer] = graph.records[earlier].outputs[0].buffer;
      ++graph.records[earlier].stands_for;
      gone[i] = true;
      continue;
    }
    if (value) known.add(i);
    known.wrote(r);
  }
  size_t at = 0, count = 0;
  std::erase_if(graph.records, [&](const PlanRecord&) {
    count += gone[at];
    return gone[at++];
  });
  if (count)
    graph.notes.push_back(fmt::format("{} records left out that an earlier one computes", count));
}

}  // namespace thalweg
