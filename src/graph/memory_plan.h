#pragma once

#include <cstddef>
#include <vector>

#include "graph/plan_graph.h"

namespace thalweg {

/// Where the temporary buffers of a graph lie in one block, by their lifetimes.
struct MemoryPlan {
  std::vector<size_t> offsets;  // of each buffer; 0 for those that have memory of their own
  size_t bytes = 0;             // of the block
  std::vector<size_t> live;     // bytes that are live at each record
  size_t peak = 0;              // the most of these
  size_t in_place = 0;          // outputs that lie over an input
  std::vector<uint32_t> over;   // of each buffer: the input that it lies over, or kNoIndex
};

/// Outputs lie over inputs that die with the record where the row allows it. Sizes are rounded up
/// to kAlignment.
MemoryPlan plan_memory(const PlanGraph& graph);

}  // namespace thalweg
