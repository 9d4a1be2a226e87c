#include <algorithm>

#include "base/fail.h"
#include "graph/passes.h"

namespace thalweg {

void remove_dead_records(PlanGraph& graph) {
  std::vector<bool> read(graph.buffers.size());  // by a later record that stays
  std::vector<bool> stays(graph.records.size(), true);
  for (size_t i = graph.records.size(); i-- > 0;) {
    const PlanRecord& r = graph.records[i];
    if (r.kind != TraceStep::Kind::kernel) continue;
    stays[i] =
        checks_elements(r) || std::ranges::any_of(r.outputs, [&](const TraceOperand& out) {
          return graph.buffers[out.buffer].kind != PlanBuffer::Kind::temporary || read[out.buffer];
        });
    if (!stays[i]) continue;
    for (const TraceOperand& in : r.inputs) {
      if (in.buffer != kNoIndex) read[in.buffer] = true;
    }
  }
  size_t at = 0;
  const size_t before = graph.records.size();
  std::erase_if(graph.records, [&](const PlanRecord&) { return !stays[at++]; });
  if (const size_t gone = before - graph.records.size())
    graph.notes.push_back(fmt::format("{} records left out whose outputs nobody reads", gone));
}

}  // namespace thalweg
