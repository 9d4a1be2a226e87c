#pragma once

#include "graph/plan_graph.h"

namespace thalweg {

/// The record as one that runs by tiles on the cpu: a copy of one that does so already, or of a
/// point-wise one that can; else a record without a body.
PlanRecord as_run(PlanGraph& graph, const std::vector<Lifetime>& lives, size_t record);

}  // namespace thalweg
