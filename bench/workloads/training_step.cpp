#include "bench/workloads/training_step.h"

#include <algorithm>

#include <thalweg/base/clock.h>

namespace thalweg::bench {
namespace {

// Milliseconds that the call that makes the plan takes beyond an eager one.
template <typename Planned>
double planning_ms(Planned& planned, double eager_seconds) {
  for (int64_t plans = planned.counts().plans;;) {
    const Stopwatch watch;
    planned();
    if (planned.counts().plans > plans) return (watch.seconds() - eager_seconds) * 1e3;
    check(planned.counts().eager == 0 && planned.counts().traced < 10, "the step is not planned");
  }
}

// Bytes of tensors that are there at most while it runs.
double peak_mib(const std::function<void()>& step) {
  reset_peak_memory();
  step();
  return static_cast<double>(memory_stats().peak_live) / (1 << 20);
}

}  // namespace

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
  const float first = mean(eager()).item<float>();
  const double plan_ms = planned ? planning_ms(replayed, best_seconds([&] { eager(); }, 1)) : 0;
  for (int i = 0; i < std::max(steps, 5); ++i) step();
  check(mean(step()).item<float>() < first, "the loss does not fall");
  const double seconds = best_seconds([&] { step(); }, steps);
  Line line{planned ? work + "_plan" : work,
            "",
            {{"step_ms", seconds * 1e3},
             {"items_s", static_cast<double>(x.size(0)) / seconds},
             {"peak_mib", peak_mib([&] { step(); })}}};
  if (planned) line.figures.emplace_back("planning_ms", plan_ms);
  return {line};
}

}  // namespace thalweg::bench
