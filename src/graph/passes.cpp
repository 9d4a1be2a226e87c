#include "graph/passes.h"

namespace thalweg {

void run_passes(PlanGraph& graph) {
  fold_constants(graph);
  share_common_records(graph);
  remove_dead_records(graph);
  fuse_pointwise_runs(graph);
}

}  // namespace thalweg
