#include "graph/passes.h"

#include "graph/pass_recompute.h"

namespace thalweg {

void run_passes(PlanGraph& graph, size_t memory_budget) {
  fold_constants(graph);
  share_common_records(graph);
  remove_dead_records(graph);
  const auto join = [](PlanGraph& g) {
    fuse_pointwise_runs(g);
    join_products_with_tails(g);
  };
  if (memory_budget) fit_into(graph, memory_budget, join);
  join(graph);
}

}  // namespace thalweg
