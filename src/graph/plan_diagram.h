#pragma once

#include <thalweg/graph/diagram.h>

#include "graph/plan_graph.h"

namespace thalweg {

/// "64 x 784", of all dimensions from `first` on; "" of a scalar.
std::string dims_text(const Shape& shape, size_t first = 0);

/// The records of a plan as boxes, and what they read from each other, from arguments and into
/// results as edges; parameters and states are left out.
Diagram diagram_of(const PlanGraph& graph);

}  // namespace thalweg
