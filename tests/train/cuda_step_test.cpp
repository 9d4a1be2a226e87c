// Training steps on a GPU beside the same on the cpu. Needs a GPU.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/train/trainer.h>

namespace thalweg::train {
namespace {

struct Training {
  std::vector<double> losses;  // sums over the batch
  std::string explained;
};

Training train(Device device, const optim::Optimizer& optimizer, bool planned,
               const TrainerOptions& options = {}) {
  manual_seed(3);
  nn::Sequential net{nn::Dense(32, {.activation = nn::relu}),
                     nn::Dense(16, {.activation = nn::tanh}), nn::Dense(5)};
  net.initialize(init::xavier(), {.seed = 11, .device = device});
  net(random_normal({8, 20}).to(device));
  Trainer trainer(net.parameters(), optimizer, options);
  const auto step = [&](const Tensor& x, const Tensor& label) {
    Tensor loss;
    {
      const Record record;
      loss = softmax_cross_entropy(net(x), label);
    }
    loss.backward();
    trainer.step(x.size(0));
    return loss;
  };
  auto plan_of_step = plan(step);
  Training run;
  for (int i = 0; i < 24; ++i) {  // three are traced, 16 verified
    const Tensor x = random_normal({8, 20}).to(device);
    const Tensor label = random_integers({8}, 0, 5).to(device);
    const Tensor loss = planned ? plan_of_step(x, label) : step(x, label);
    double sum = 0;
    for (const float v : loss.to_vector<float>()) sum += v;
    run.losses.push_back(sum);
  }
  run.explained = plan_of_step.explain();
  return run;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 1e-4 * std::abs(wanted[i])) << "step " << i;
}

class CudaStep : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count(DeviceKind::cuda) == 0) GTEST_SKIP() << "no CUDA device on this machine";
  }
};

TEST_F(CudaStep, EagerStepsGiveTheCpusLosses) {
  const optim::SGD sgd({.learning_rate = 0.1, .momentum = 0.9});
  expect_near(train(Device::cuda(), sgd, false).losses, train(Device::cpu(), sgd, false).losses);
}

TEST_F(CudaStep, PlannedStepsAreLaunchedAsGraphs) {
  const optim::SGD sgd({.learning_rate = 0.1});
  const Training run = train(Device::cuda(), sgd, true);
  expect_near(run.losses, train(Device::cpu(), sgd, false).losses);
  EXPECT_NE(run.explained.find("records launched as one graph"), std::string::npos)
      << run.explained;
}

TEST_F(CudaStep, NumbersThatChangeFromStepToStepReachTheGraph) {
  const optim::Adam adam({.learning_rate = 0.01});
  expect_near(train(Device::cuda(), adam, true).losses, train(Device::cpu(), adam, false).losses);
}

TEST_F(CudaStep, ClipsByTheNormOfAllGradients) {
  const optim::SGD sgd({.learning_rate = 0.1});
  const TrainerOptions options{.clip_norm = 0.5};
  expect_near(train(Device::cuda(), sgd, true, options).losses,
              train(Device::cpu(), sgd, false, options).losses);
}

}  // namespace
}  // namespace thalweg::train
