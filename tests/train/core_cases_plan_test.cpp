// Faults that others shipped in optimizers, clipping, averages and loaders (see their tests), once
// more in planned steps.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/data/loader.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/train/averager.h>
#include <thalweg/train/clip.h>
#include <thalweg/train/trainer.h>

#include "base/expect_error.h"
#include "data/sample_sets.h"
#include "train/fixture.h"

namespace thalweg::train {
namespace {

// --- ml-explore/mlx#440 and #473: the first two or three weights; then the same rule by hand ---
void expect_weights(const optim::Optimizer& optimizer, const std::vector<double>& wanted) {
  const nn::Parameter p = parameter("p", Tensor::of({1.0}));
  Trainer trainer(nn::ParameterList({{"p", p}}), optimizer);
  auto step = plan([&] {
    give_gradient(p, Tensor::of({0.5}));
    trainer.step(1);
  });
  for (size_t i = 0; i < wanted.size(); ++i) {
    step();
    EXPECT_NEAR(p.data().item<double>(), wanted[i], 1e-10) << i;
  }
  EXPECT_GE(step.counts().replayed, 3) << step.explain();
}

TEST(PlannedOptimizers, DecayWithoutMomentumIsNotSkipped) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .weight_decay = 0.1}),
                 {0.94, 0.8806, 0.821794, 0.76357606, 0.7059402994, 0.648880896406});
}
TEST(PlannedOptimizers, FirstMomentumStepIsNotDamped) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5}),
                 {0.95, 0.88, 0.792, 0.6878, 0.56902, 0.437118});
}
TEST(PlannedOptimizers, NesterovLooksAhead) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}),
                 {0.905, 0.7695, 0.59755, 0.392795, 0.1585155, -0.10233605});
}
TEST(PlannedOptimizers, DecayEntersTheMomentum) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.1}),
                 {0.94, 0.8266, 0.666274, 0.46531786, 0.2298041554, -0.034456220294});
}
TEST(PlannedOptimizers, MaximizingStillDecays) {
  expect_weights(optim::SGD({.learning_rate = 0.1, .weight_decay = 0.1, .maximize = true}),
                 {1.04, 1.0796, 1.118804, 1.15761596, 1.1960398004, 1.2340794024});
}

// --- tensorflow#22048, Paddle#32038, pytorch#46849: clipping by the global norm ---

/// A planned step of SGD whose gradients are its arguments.
class ClippedStep {
 public:
  explicit ClippedStep(const TrainerOptions& options, const Tensor& like)
      : a(parameter("a", zeros_like(like))),
        b(parameter("b", zeros_like(like))),
        trainer(nn::ParameterList({{"a", a}, {"b", b}}), optim::SGD({.learning_rate = 1}),
                options) {}

  /// What the replay of a step subtracts from the weights.
  std::pair<std::vector<double>, std::vector<double>> replay(const Tensor& ga, const Tensor& gb) {
    for (int i = 0; i < 5; ++i) call(ga, gb);
    EXPECT_GE(step.counts().replayed, 2) << step.explain();
    return {numbers(-a.data()), numbers(-b.data())};
  }
  void call(const Tensor& ga, const Tensor& gb) {
    a.data().fill(0);
    b.data().fill(0);
    step(ga, gb);
  }

  nn::Parameter a, b;
  Trainer trainer;
  Planned<std::function<void(const Tensor&, const Tensor&)>> step{
      std::function<void(const Tensor&, const Tensor&)>([this](const Tensor& ga, const Tensor& gb) {
        give_gradient(a, ga);
        give_gradient(b, gb);
        trainer.step(1);
      })};

 private:
  static Tensor zeros_like(const Tensor& t) { return Tensor::zeros(t.shape(), {t.dtype()}); }
};

TEST(PlannedClipping, ScalesAllGradientsTogetherAndLeavesShortOnesAlone) {
  const Tensor three = Tensor::of({3.0}), four = Tensor::of({4.0}), zero = Tensor::of({0.0});
  struct Case {
    double limit;
    Tensor ga, gb;
    double a, b, norm;
  };
  for (const Case& c : {Case{1, three, four, .6, .8, 5}, Case{10, three, four, 3, 4, 5},
                        Case{5, three, four, 3, 4, 5}, Case{1, zero, zero, 0, 0, 0}}) {
    ClippedStep s({.clip_norm = c.limit}, c.ga);
    const auto [a, b] = s.replay(c.ga, c.gb);
    EXPECT_NEAR(a[0], c.a, c.a * 2e-6);
    EXPECT_NEAR(b[0], c.b, c.b * 2e-6);
    EXPECT_EQ(s.trainer.gradient_norm(), c.norm);
  }
}

TEST(PlannedClipping, MeasuresHalvesInF32) {
  const Tensor big = Tensor::of({60000.0, 60000.0}).to(DType::f16);
  const Tensor none = Tensor::zeros({2}, {DType::f16});
  ClippedStep s({.clip_norm = 1}, big);
  EXPECT_EQ(s.replay(big, none).first, (std::vector{0.70703125, 0.70703125}));
  EXPECT_NEAR(s.trainer.gradient_norm(), 84852.81, 0.01);
}

TEST(PlannedClipping, ANormThatIsNotFiniteIsAnErrorAndChangesNothing) {
  const Tensor one = Tensor::of({1.0});
  ClippedStep s({.clip_norm = 1}, one);
  s.replay(one, one);
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const std::string text =
        error_text(ErrorKind::invalid, [&] { s.call(Tensor::of({bad}), one); });
    EXPECT_NE(text.find("the first parameter with such a gradient is a"), std::string::npos)
        << text;
    EXPECT_EQ(numbers(s.a.data())[0], 0);
    EXPECT_EQ(numbers(s.b.data())[0], 0);
  }
}

TEST(PlannedClipping, ByHandReadsTheNormAndSoRunsEagerly) {
  auto f = plan([](const Tensor& a, const Tensor& b) {
    const std::vector<Tensor> tensors{a, b};
    clip_global_norm(tensors, 1);
  });
  for (int i = 0; i < 5; ++i) {
    const Tensor a = Tensor::of({3.0}), b = Tensor::of({4.0});
    f(a, b);
    EXPECT_NEAR(a.item<double>(), .6, 2e-6);
    EXPECT_NEAR(b.item<double>(), .8, 2e-6);
  }
  EXPECT_EQ(f.counts().replayed, 0) << f.explain();
}

TEST(PlannedClipping, AsAFunctionHasTheIdentityAsDerivativeAtZero) {
  const Tensor x = Tensor::zeros({3}, {.dtype = DType::f64});
  x.attach_grad();
  const Tensor head = Tensor::of({1.0, -2.0, 3.0});
  auto f = plan([&] {
    Tensor y;
    {
      const Record record;
      y = clip_norm(x, 1);
    }
    y.backward(head);
  });
  for (int i = 0; i < 5; ++i) f();
  EXPECT_GE(f.counts().replayed, 2) << f.explain();
  EXPECT_EQ(numbers(x.grad()), (std::vector{1.0, -2.0, 3.0}));
}

// --- keras#18972, tensorflow#2825 ---
TEST(PlannedAverager, StartsFromTheFirstWeights) {
  const nn::Parameter constant = parameter("constant", Tensor::of({1.0}));
  const nn::Parameter falling = parameter("falling", Tensor::of({1.0}));
  WeightAverager averager(nn::ParameterList({{"constant", constant}, {"falling", falling}}),
                          {.decay = 0.9});
  auto step = plan([&](const Tensor& weight) {
    const Pause pause;
    falling.data().assign(weight);
    averager.update();
  });
  const double wanted[] = {0.99, 0.971, 0.9439, 0.90951, 0.868559, 0.8217031};
  for (int i = 0; i < 6; ++i) {
    step(Tensor::of({0.9 - 0.1 * i}));
    EXPECT_EQ(averager.average(0).item<double>(), 1);
    EXPECT_NEAR(averager.average(1).item<double>(), wanted[i], 1e-12) << i;
  }
  EXPECT_GE(step.counts().replayed, 3) << step.explain();
}

// --- BirkhoffG/jax-dataloader#33 ---
TEST(PlannedEpoch, HasAsManyStepsAsTheLoaderSaysWhateverTheLastBatchIs) {
  using data::DataLoader, data::LastBatch, data::numbered;
  struct Case {
    int64_t samples, batch;
    size_t keep, discard;
  };
  const Case cases[] = {{100, 100, 1, 1}, {10, 3, 4, 3}, {9, 3, 3, 3},
                        {2, 5, 1, 0},     {1, 1, 1, 1},  {0, 3, 0, 0}};
  for (const int workers : {0, 2}) {
    for (const Case& c : cases) {
      for (const LastBatch last : {LastBatch::keep, LastBatch::discard}) {
        const size_t length = last == LastBatch::keep ? c.keep : c.discard;
        DataLoader loader(numbered(c.samples),
                          {.batch_size = c.batch, .workers = workers, .last_batch = last});
        auto step = plan([](const Tensor& x) { return sum(x, {0}); });
        constexpr int kEpochs = 4;
        for (int epoch = 0; epoch < kEpochs; ++epoch) {
          EXPECT_EQ(loader.size(), length);
          double seen = 0;
          for (auto& batch : loader) seen += numbers(step(batch.data))[0];
          const int64_t n =
              last == LastBatch::keep ? c.samples : static_cast<int64_t>(length) * c.batch;
          EXPECT_EQ(seen, static_cast<double>(n * (n - 1) / 2));
        }
        const PlanCounts counts = step.counts();
        EXPECT_EQ(counts.replayed + counts.traced, static_cast<int64_t>(length) * kEpochs);
        EXPECT_GE(counts.replayed, length ? 2 : 0) << step.explain();
      }
    }
  }
}

TEST(PlannedEpoch, ABatchThatRollsOverIsSummedOnce) {
  data::DataLoader loader(data::numbered(10),
                          {.batch_size = 3, .last_batch = data::LastBatch::rollover});
  auto step = plan([](const Tensor& x) { return sum(x, {0}); });
  const size_t lengths[] = {3, 3, 4, 3};
  double seen = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    size_t steps = 0;
    for (auto& batch : loader) {
      seen += numbers(step(batch.data))[0];
      ++steps;
    }
    EXPECT_EQ(steps, lengths[epoch]);
  }
  EXPECT_EQ(seen, 4 * 45 - 9);  // the last sample of the fourth epoch is carried
  EXPECT_EQ(step.counts().plans, 1);
}

}  // namespace
}  // namespace thalweg::train
