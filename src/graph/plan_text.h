#pragma once

// A plan in words.

#include <string>

#include <thalweg/graph/plan.h>

#include "graph/program.h"

namespace thalweg {

/// "1200 calls: 1196 replayed, ...".
std::string explain_counts(const PlanCounts& counts);

/// The records with kernels and memory, and what passes did.
std::string explain_program(const Program& program);

}  // namespace thalweg
