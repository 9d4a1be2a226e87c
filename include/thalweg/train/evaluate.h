#pragma once

#include <functional>
#include <vector>

#include <thalweg/data/loader.h>
#include <thalweg/nn/module.h>
#include <thalweg/train/metrics.h>

namespace thalweg::train {

/// The loss of each sample, [N], or of the batch, without dimensions; `output` is the net's.
using LossFunction = std::function<Tensor(const Tensor& output, const data::Batch& batch)>;

/// What the net makes of a batch, sparse or dense.
THALWEG_API Tensor output_of(nn::Module& net, const data::Batch& batch);

/// Sees each batch of an evaluation, e.g. to collect the worst samples.
using EvaluationObserver = std::function<void(const data::Batch& batch, const Observation& seen)>;

/// Runs the net over one pass of the loader, without recording and as in prediction, and adds what
/// comes out to the metrics. `loss` may be empty.
THALWEG_API void evaluate(nn::Module& net, data::DataLoader& loader, const LossFunction& loss,
                          const std::vector<metric::MetricPtr>& metrics,
                          const EvaluationObserver& observer = {});

/// The figures of all metrics, in order.
THALWEG_API Figures figures_of(const std::vector<metric::MetricPtr>& metrics);

}  // namespace thalweg::train
