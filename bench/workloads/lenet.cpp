#include "bench/workloads/training_step.h"

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
  net(x);
  check(net.parameters().element_count() == 61706, "LeNet has 61,706 parameters");
  train::Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.01, .momentum = 0.9}));
  const Tensor label = random_integers({kBatch}, 0, 10);
  return time_training_step("lenet", planned, net, trainer, x, label, 20);
}

}  // namespace

std::vector<Line> run_lenet() { return run(false); }
std::vector<Line> run_lenet_plan() { return run(true); }

}  // namespace thalweg::bench
