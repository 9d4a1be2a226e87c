// Optimizers through the Trainer, against torch.optim and the cases of others.

#include <cmath>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/train/trainer.h>

#include "base/expect_error.h"
#include "train/fixture.h"

namespace thalweg::train {
namespace {

using optim::Optimizer;

// --- 20 steps beside PyTorch ---
class TorchSteps : public testing::TestWithParam<std::pair<std::string, Optimizer>> {};

// The two tensors of make_fixtures.py, and the gradient of step t.
class Weights {
 public:
  explicit Weights(DType dtype)
      : parameters{parameter("a", Tensor::of({0.5, -1.25, 2.0, 0.125}, {2, 2}).to(dtype)),
                   parameter("b", Tensor::of({-0.75, 1.5}).to(dtype))} {}

  void set_gradients(int t) {
    int i = 0;
    for (const nn::Parameter& p : parameters) {
      std::vector<double> g = numbers(p.data());
      for (double& v : g) v = 0.3 * v + std::sin(1.7 * t + 0.9 * i++);
      give_gradient(p, Tensor::of(g, p.shape()).to(p.dtype()));
    }
  }

  nn::ParameterList list() const {
    return nn::ParameterList({{"a", parameters[0]}, {"b", parameters[1]}});
  }

  std::vector<double> all() const {
    std::vector<double> values = numbers(parameters[0].data());
    for (double v : numbers(parameters[1].data())) values.push_back(v);
    return values;
  }

  nn::Parameter parameters[2];
};

void expect_trajectory(Trainer& trainer, Weights& weights, const Json& expected, double tolerance) {
  for (int t = 0; t < static_cast<int>(expected.size()); ++t) {
    weights.set_gradients(t);
    trainer.step(1);
    const std::vector<double> got = weights.all();
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[static_cast<size_t>(t)][i].get<double>(), tolerance)
          << "step " << t << ", weight " << i;
  }
}

TEST_P(TorchSteps, GiveTheSameWeightsInF64) {
  Weights weights(DType::f64);
  Trainer trainer(weights.list(), GetParam().second);
  expect_trajectory(trainer, weights, fixtures("optimizers").at(GetParam().first), 1e-10);
}

TEST_P(TorchSteps, GiveTheSameWeightsInF32) {
  Weights weights(DType::f32);
  Trainer trainer(weights.list(), GetParam().second);
  expect_trajectory(trainer, weights, fixtures("optimizers").at(GetParam().first), 5e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Optimizers, TorchSteps,
    testing::Values(
        std::pair{"sgd", optim::SGD({.learning_rate = 0.1})},
        std::pair{"sgd_decay", optim::SGD({.learning_rate = 0.1, .weight_decay = 0.05})},
        std::pair{"sgd_momentum",
                  optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.05})},
        std::pair{"sgd_dampening",
                  optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5})},
        std::pair{"sgd_nesterov", optim::SGD({.learning_rate = 0.1,
                                              .momentum = 0.9,
                                              .nesterov = true,
                                              .weight_decay = 0.05})},
        std::pair{"sgd_maximize", optim::SGD({.learning_rate = 0.01,
                                              .momentum = 0.5,
                                              .weight_decay = 0.05,
                                              .maximize = true})},
        std::pair{"adam", optim::Adam({.learning_rate = 0.05})},
        std::pair{"adam_decay", optim::Adam({.learning_rate = 0.05,
                                             .beta1 = 0.8,
                                             .beta2 = 0.95,
                                             .epsilon = 1e-4,
                                             .weight_decay = 0.1})},
        std::pair{"adamw", optim::AdamW({.learning_rate = 0.05})},
        std::pair{"adamw_decay", optim::AdamW({.learning_rate = 0.05,
                                               .beta1 = 0.8,
                                               .beta2 = 0.95,
                                               .epsilon = 1e-4,
                                               .weight_decay = 0.1})},
        std::pair{"rmsprop", optim::RMSProp({.learning_rate = 0.05})},
        std::pair{"rmsprop_momentum",
                  optim::RMSProp(
                      {.learning_rate = 0.02, .alpha = 0.9, .momentum = 0.8, .weight_decay = 0.1})},
        std::pair{"rmsprop_centered", optim::RMSProp({.learning_rate = 0.02,
                                                      .alpha = 0.9,
                                                      .epsilon = 1e-3,
                                                      .momentum = 0.8,
                                                      .centered = true})},
        std::pair{"adagrad", optim::AdaGrad({.learning_rate = 0.1})},
        std::pair{"adagrad_decay", optim::AdaGrad({.learning_rate = 0.1,
                                                   .rate_decay = 0.05,
                                                   .initial_sum = 0.1,
                                                   .epsilon = 1e-6,
                                                   .weight_decay = 0.1})}),
    [](const auto& info) { return std::string(info.param.first); });

TEST(Optimizers, GroupsHaveTheirOwnOptions) {
  Weights weights(DType::f64);
  Trainer trainer({{nn::ParameterList({{"a", weights.parameters[0]}}),
                    optim::SGD({.learning_rate = 0.1, .momentum = 0.9})},
                   {nn::ParameterList({{"b", weights.parameters[1]}}),
                    optim::SGD({.learning_rate = 0.02, .weight_decay = 0.2})}});
  expect_trajectory(trainer, weights, fixtures("optimizers").at("groups"), 1e-10);
}

// A parameter's factors do what a group's options do.
TEST(Optimizers, MultipliersScaleRateAndDecayOfOneParameter) {
  Weights weights(DType::f64);
  weights.parameters[0].set_lr_mult(5);
  weights.parameters[0].set_wd_mult(0);
  Trainer trainer(weights.list(), optim::SGD({.learning_rate = 0.02, .weight_decay = 0.2}));
  weights.set_gradients(0);
  const std::vector<double> before = weights.all();
  trainer.step(1);
  const std::vector<double> after = weights.all();
  EXPECT_NEAR(after[0], before[0] - 0.1 * (0.3 * before[0]), 1e-12);
  const double g = 0.3 * before[5] + std::sin(0.9 * 5);
  EXPECT_NEAR(after[5], before[5] - 0.02 * (g + 0.2 * before[5]), 1e-12);
}

// --- ml-explore/mlx#440 and #473 ---
std::vector<double> constant_gradient(const Optimizer& optimizer, int steps) {
  const nn::Parameter p = parameter("p", Tensor::of({1.0}));
  Trainer trainer(nn::ParameterList({{"p", p}}), optimizer);
  std::vector<double> weights;
  for (int i = 0; i < steps; ++i) {
    give_gradient(p, Tensor::of({0.5}));
    trainer.step(1);
    weights.push_back(p.data().item<double>());
  }
  return weights;
}

void expect_weights(const Optimizer& optimizer, const std::vector<double>& expected) {
  const std::vector<double> got = constant_gradient(optimizer, static_cast<int>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

TEST(Optimizers, DecayWithoutMomentumIsNotSkipped) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .weight_decay = 0.1}), {0.94, 0.8806});
}
TEST(Optimizers, FirstMomentumStepIsNotDamped) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5}),
                 {0.95, 0.88, 0.792});
}
TEST(Optimizers, NesterovLooksAhead) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}),
                 {0.905, 0.7695, 0.59755});
}
TEST(Optimizers, DecayEntersTheMomentum) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.1}),
                 {0.94, 0.8266});
}
TEST(Optimizers, MaximizingStillDecays) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .weight_decay = 0.1, .maximize = true}),
                 {1.04, 1.0796});
}

TEST(Optimizers, HalfWeightsHaveStatesInF32) {
  const nn::Parameter p = parameter("p", Tensor::of({1.0, -2.0}).to(DType::f16));
  Trainer trainer(nn::ParameterList({{"p", p}}),
                  optim::SGD({.learning_rate = 0.5, .momentum = 0.5}));
  for (int i = 0; i < 2; ++i) {
    give_gradient(p, Tensor::of({0.25, 0.5}).to(DType::f16));
    trainer.step(1);
  }
  // Momentum 0.25 and 0.375, and twice that.
  EXPECT_EQ(numbers(p.data()), (std::vector{0.6875, -2.625}));
}

TEST(Optimizers, RejectOptionsThatDoNotFit) {
  const auto text = [](auto&& make) { return error_text(ErrorKind::invalid, make); };
  EXPECT_EQ(text([] { optim::SGD({.learning_rate = -1}); }),
            "SGD: learning_rate is -1; it must be finite and not below 0");
  EXPECT_EQ(text([] { optim::SGD({.momentum = 1.5}); }),
            "SGD: momentum is 1.5; it must be in [0, 1]");
  EXPECT_EQ(text([] { optim::SGD({.nesterov = true}); }),
            "SGD: nesterov with momentum 0 and dampening 0; it needs a momentum and no dampening");
  EXPECT_NE(text([] { optim::Adam({.beta2 = 1}); }).find("Adam: beta2 is 1"), std::string::npos);
  EXPECT_NE(text([] { optim::AdamW({.weight_decay = std::nan("")}); }).find("AdamW: weight_decay"),
            std::string::npos);
}

TEST(Optimizers, DescribeWhatIsNotUsual) {
  EXPECT_EQ(optim::SGD({.learning_rate = 0.1, .momentum = 0.9}).describe(),
            "SGD(learning_rate=0.1, momentum=0.9)");
  EXPECT_EQ(optim::AdamW().describe(), "AdamW(learning_rate=0.001)");
  EXPECT_EQ(optim::RMSProp({.centered = true}).describe(),
            "RMSProp(learning_rate=0.01, centered=true)");
}

}  // namespace
}  // namespace thalweg::train
