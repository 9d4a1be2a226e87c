#include "bench/workloads/training_step.h"

namespace thalweg::bench {

namespace {

std::vector<Line> run(bool planned) {
  manual_seed(7);
  constexpr int64_t kBatch = 32;
  nn::Sequential net = nn::resnet_cifar(20);
  net.initialize();
  const Tensor x = random_uniform({kBatch, 3, 32, 32});
  net(x);
  check(net.parameters().element_count() == 272474 + 1568,
        "ResNet-20 has 272,474 parameters and 1,568 running statistics");
  train::Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.01, .momentum = 0.9}));
  const Tensor label = random_integers({kBatch}, 0, 10);
  return time_training_step("resnet20", planned, net, trainer, x, label, 4);
}

}  // namespace

std::vector<Line> run_resnet20() { return run(false); }
std::vector<Line> run_resnet20_plan() { return run(true); }

}  // namespace thalweg::bench
