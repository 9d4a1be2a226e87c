#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

namespace thalweg::bench {

namespace {

std::vector<Line> run(bool planned) {
  manual_seed(7);
  constexpr int64_t kBatch = 64;
  nn::Sequential net{nn::Conv2D(6, {.kernel = 5, .padding = 2, .activation = nn::relu}),
                     nn::MaxPool2D({.kernel = 2}),
                     nn::Conv2D(16, {.kernel = 5, .activation = nn::relu}),
                     nn::MaxPool2D({.kernel = 2}),
                     nn::Flatten(),
                     nn::Dense(120, {.activation = nn::relu}),
                     nn::Dense(84, {.activation = nn::relu}),
                     nn::Dense(10)};
  net.initialize();
  const Tensor x = random_uniform({kBatch, 1, 28, 28});
  const Tensor label = random_integers({kBatch}, 0, 10);
  net(x);
  check(net.parameters().element_count() == 61706, "LeNet has 61,706 parameters");
  train::Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.01, .momentum = 0.9}));
  const auto eager = [&] {
    Tensor loss;
    {
      const Record record;
      loss = softmax_cross_entropy(net(x), label);
    }
    loss.backward();
    trainer.step(kBatch);
    return loss;
  };
  auto replayed = plan(eager);
  const auto step = [&] { return planned ? replayed() : eager(); };
  const float first = mean(step()).item<float>();
  for (int i = 0; i < 30; ++i) step();
  check(mean(step()).item<float>() < first, "the loss does not fall");
  const double seconds = best_seconds([&] { step(); }, 20);
  return {{planned ? "lenet_plan" : "lenet",
           "",
           {{"step_ms", seconds * 1e3}, {"items_s", kBatch / seconds}}}};
}

}  // namespace

std::vector<Line> run_lenet() { return run(false); }
std::vector<Line> run_lenet_plan() { return run(true); }

}  // namespace thalweg::bench
