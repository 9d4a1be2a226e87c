#pragma once

#include <string>

#include "ops/device_fusion.h"

namespace thalweg::cuda {

/// The source of one kernel for a run of point-wise ops: their expressions, one after the other.
std::string fused_source(const FusedRun& run);

}  // namespace thalweg::cuda
