#pragma once

#include <string>
#include <vector>

#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

namespace thalweg::bench {

/// Times steps on one batch, after a check that they lower the loss: eager or, with `_plan` behind
/// the work's name, as a plan. `steps` are timed together.
std::vector<Line> time_training_step(const std::string& work, bool planned, nn::Sequential& net,
                                     train::Trainer& trainer, const Tensor& x, const Tensor& label,
                                     int steps);

}  // namespace thalweg::bench
