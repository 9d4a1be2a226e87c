#pragma once

// Values that are computed again before they are used, so that temporaries fit into fewer bytes.

#include <cstddef>

#include <thalweg/base/function_ref.h>

#include "graph/plan_graph.h"

namespace thalweg {

/// Repeats cheap records, those that wait for memory more than they compute, where what they made
/// is next used, until the arena of the graph as `finish` leaves it has at most `bytes`: first what
/// saves most bytes a second. A repeated record runs the same kernel on the same operands, and so
/// gives the same bits; random ones have the numbers of the first time. Throws Error{invalid} where
/// that is not enough, with the least that is.
void fit_into(PlanGraph& graph, size_t bytes, FunctionRef<void(PlanGraph&)> finish);

}  // namespace thalweg
