#pragma once

// Each pass rewrites a graph so that results, gradients and external tensors get the same bits, and
// notes what it did.

#include "graph/plan_graph.h"

namespace thalweg {

/// Leaves out records whose outputs nobody reads.
void remove_dead_records(PlanGraph& graph);

/// Lets one record stand for all that compute the same from the same; random ops and changes in
/// place are left alone.
void share_common_records(PlanGraph& graph);

/// Runs records that read constants only, once and for all; large outputs stay records.
void fold_constants(PlanGraph& graph);

/// Joins point-wise records that follow each other and have one layout, where the tensors are
/// larger than the caches next to the core: they run tile by tile, and what only they read takes no
/// memory.
void fuse_pointwise_runs(PlanGraph& graph);

/// Lets products on the cpu go on with the point-wise records right behind them: an activation, or
/// a sum with another tensor, runs on rows of the product while they are in the cache.
void join_products_with_tails(PlanGraph& graph);

/// All passes, in their order. With a memory budget in bytes, 0 for none, see fit_into().
void run_passes(PlanGraph& graph, size_t memory_budget = 0);

}  // namespace thalweg
