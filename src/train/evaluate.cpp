#include <thalweg/graph/autograd.h>
#include <thalweg/train/evaluate.h>

#include "train/on_device.h"

namespace thalweg::train {

Tensor output_of(nn::Module& net, const data::Batch& batch) {
  return batch.sparse.defined() ? net(batch.sparse) : net(batch.data);
}

void evaluate(nn::Module& net, data::DataLoader& loader, const LossFunction& loss,
              const std::vector<metric::MetricPtr>& metrics, const EvaluationObserver& observer) {
  const Pause pause;
  const Device device = device_of(net.parameters());
  for (const data::Batch& batch : loader) {
    Observation seen{.label = batch.label};
    with_batch_on(device, batch, [&](const data::Batch& there) {
      const Tensor output = output_of(net, there);
      if (loss) seen.loss = on_host(loss(output, there));
      seen.output = on_host(output);
    });
    for (const metric::MetricPtr& metric : metrics) metric->update(seen);
    if (observer) observer(batch, seen);
  }
}

Figures figures_of(const std::vector<metric::MetricPtr>& metrics) {
  Figures all;
  for (const metric::MetricPtr& metric : metrics)
    for (Figure& figure : metric->figures()) all.push_back(std::move(figure));
  return all;
}

}  // namespace thalweg::train
