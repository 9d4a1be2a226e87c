#include "bench/workloads/training_step.h"

#include <algorithm>

namespace thalweg::bench {

std::vector<Line> time_training_step(const std::string& work, bool planned, nn::Sequential& net,
                                     train::Trainer& trainer, const Tensor& x, const Tensor& label,
                                     int steps) {
  const auto eager = [&] {
    Tensor loss;
    {
      const Record record;
      loss = softmax_cross_entropy(net(x), label);
    }
    loss.backward();
    trainer.step(label.size());
    return loss;
  };
  auto replayed = plan(eager);
  const auto step = [&] { return planned ? replayed() : eager(); };
  const float first = mean(step()).item<float>();
  for (int i = 0; i < std::max(steps, 5); ++i) step();
  check(mean(step()).item<float>() < first, "the loss does not fall");
  const double seconds = best_seconds([&] { step(); }, steps);
  return {{planned ? work + "_plan" : work,
           "",
           {{"step_ms", seconds * 1e3}, {"items_s", static_cast<double>(x.size(0)) / seconds}}}};
}

}  // namespace thalweg::bench
