#include "graph/passes.h"

#include "graph/pass_recompute.h"

namespace thalweg {

void run_passes(PlanGraph& graph, size_t memory_budget) {
  fold_constants(graph);
  share_common_records(graph);
  remove_dead_records(graph);
  if (memory_budget) fit_into(graph, memory_budget, [](PlanGraph& g) { fuse_pointwise_runs(g); });
  fuse_pointwise_runs(graph);
}

}  // namespace thalweg
