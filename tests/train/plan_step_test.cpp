// Whole training steps as plans: the bits of the eager steps, over many steps, without memory from
// the heap.

#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/random.h>
#include <thalweg/device/memory.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/train/checkpoint.h>
#include <thalweg/train/trainer.h>

#include "train/count_allocations.h"

namespace thalweg::train {
namespace {

using NetMaker = std::function<nn::Sequential()>;

nn::Sequential mlp() {
  return nn::Sequential{nn::Dense(16, {.activation = nn::relu}),
                        nn::Dense(12, {.activation = nn::tanh}), nn::Dense(5)};
}

nn::Sequential convolutions() {
  return nn::Sequential{nn::Conv2D(4, {.kernel = 3, .padding = 1}),
                        nn::BatchNorm(),
                        nn::Activation(nn::relu),
                        nn::MaxPool2D({.kernel = 2}),
                        nn::Conv2D(6, {.kernel = 3, .activation = nn::relu}),
                        nn::Flatten(),
                        nn::Dropout(0.3),
                        nn::Dense(5)};
}

nn::Sequential norms() {
  return nn::Sequential{nn::Dense(16), nn::BatchNorm(), nn::Activation(nn::relu), nn::Dropout(0.3),
                        nn::Dense(12), nn::LayerNorm(), nn::Activation(nn::gelu), nn::Dense(5)};
}

struct Work {
  const char* name;
  NetMaker net;
  Shape sample;
  optim::Optimizer optimizer;
  TrainerOptions options = {};
};

// What ctest lists it as.
void PrintTo(const Work& work, std::ostream* out) { *out << work.name; }

/// A net in training on batches that are drawn from the step's number.
class Training {
 public:
  explicit Training(const Work& work) : work_(work), net_(work.net()) {
    manual_seed(3);
    net_.initialize(init::xavier(), {.seed = 11});
    net_(batch(0, 8).first);
    trainer_.emplace(net_.parameters(), work.optimizer, work.options);
  }

  std::pair<Tensor, Tensor> batch(int number, int64_t size) const {
    const RandomState now = default_random_state();
    manual_seed(100 + static_cast<uint64_t>(number));
    Shape shape{size};
    for (const int64_t n : work_.sample) shape.push_back(n);
    std::pair two{random_normal(shape), random_integers({size}, 0, 5)};
    set_default_random_state(now);
    return two;
  }

  Tensor step(const Tensor& x, const Tensor& label) {
    Tensor loss;
    {
      const Record record;
      loss = softmax_cross_entropy(net_(x), label);
    }
    loss.backward();
    trainer_->step(x.size(0));
    return loss;
  }

  nn::Sequential& net() { return net_; }
  Trainer& trainer() { return *trainer_; }

 private:
  const Work& work_;
  nn::Sequential net_;
  std::optional<Trainer> trainer_;
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.impl()->data, b.impl()->data,
                     static_cast<size_t>(a.size()) * item_size(a.dtype())) == 0;
}

void expect_same_nets(Training& a, Training& b) {
  const nn::ParameterList pa = a.net().parameters(), pb = b.net().parameters();
  for (size_t i = 0; i < pa.size(); ++i) {
    EXPECT_TRUE(same_bits(pa[i].parameter.data(), pb[i].parameter.data())) << pa[i].name;
    if (pa[i].parameter.grad_req() == GradReq::null) continue;
    EXPECT_TRUE(same_bits(pa[i].parameter.grad(), pb[i].parameter.grad())) << pa[i].name;
  }
}

const Work kWorks[] = {
    {"mlp_sgd", mlp, {7}, optim::SGD({.learning_rate = 0.1})},
    {"mlp_momentum",
     mlp,
     {7},
     optim::SGD({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01}),
     {.schedule = schedule::cosine({.steps = 60})}},
    {"mlp_clip_norm",
     mlp,
     {7},
     optim::AdamW({.learning_rate = 0.01}),
     {.clip_norm = 0.5, .non_finite = NonFinite::skip}},
    {"norms_adam", norms, {7}, optim::Adam({.learning_rate = 0.01})},
    {"conv_adam", convolutions, {2, 8, 8}, optim::Adam({.learning_rate = 0.01})},
    {"conv_rmsprop",
     convolutions,
     {2, 8, 8},
     optim::RMSProp({.learning_rate = 0.001, .momentum = 0.9, .centered = true})},
};

class PlannedSteps : public testing::TestWithParam<Work> {};

TEST_P(PlannedSteps, KeepTheBitsOfEagerStepsOver50Steps) {
  Training eager(GetParam()), planned(GetParam());
  auto step = plan([&](const Tensor& x, const Tensor& label) { return planned.step(x, label); });
  RandomState eager_random = default_random_state(), planned_random = eager_random;
  for (int i = 0; i < 50; ++i) {
    // The last batch of an epoch is smaller.
    const auto [x, label] = eager.batch(i, i % 5 == 4 ? 3 : 8);
    set_default_random_state(eager_random);
    const Tensor wanted = eager.step(x, label);
    eager_random = default_random_state();
    set_default_random_state(planned_random);
    const Tensor got = step(x, label);
    planned_random = default_random_state();
    ASSERT_EQ(planned_random, eager_random);
    ASSERT_TRUE(same_bits(got, wanted)) << "step " << i << "\n" << step.explain();
  }
  expect_same_nets(eager, planned);
  EXPECT_EQ(planned.trainer().steps(), 50);
  EXPECT_EQ(planned.trainer().learning_rate(), eager.trainer().learning_rate());
  EXPECT_GT(step.counts().replayed, 40) << step.explain();
}

TEST_P(PlannedSteps, ComputeTheSameInEachRecord) {
  Training training(GetParam());
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); },
                   {.check = true});
  for (int i = 0; i < 10; ++i) {
    const auto [x, label] = training.batch(i, 8);
    EXPECT_NO_THROW(step(x, label));
  }
  EXPECT_GE(step.counts().replayed, 4) << step.explain();
}

// oneDNN's convolutions take memory at each call, and the code of norms, which have several
// outputs, in those that are verified.
TEST_P(PlannedSteps, TakeNoMemoryFromTheHeap) {
  if (std::string_view(GetParam().name).starts_with("conv")) return;
  Training training(GetParam());
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); });
  const auto [x, label] = training.batch(0, 8);
  Tensor loss;
  for (int i = 0; i < 10; ++i) loss = step(x, label);
  ASSERT_GT(step.counts().replayed, 4);
  const MemoryStats before = memory_stats();
  const bool is_norm = std::string_view(GetParam().name).starts_with("norms");
  for (int i = 0; i < 40; ++i) {
    const int64_t verified = step.counts().verified;
    const auto count = count_allocations([&] { loss = step(x, label); });
    if (is_norm && step.counts().verified != verified) continue;
    EXPECT_EQ(count, 0) << i;
  }
  EXPECT_EQ(memory_stats().system_allocations, before.system_allocations);
}

TEST_P(PlannedSteps, GoOnFromACheckpointWithTheSameBits) {
  Training whole(GetParam()), first(GetParam()), second(GetParam());
  const auto train = [](Training& t, auto& step, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const auto [x, label] = t.batch(i, 8);
      manual_seed(1000 + static_cast<uint64_t>(i));
      step(x, label);
    }
  };
  const auto planned = [](Training& t) {
    return plan([&t](const Tensor& x, const Tensor& label) { return t.step(x, label); });
  };
  auto step = planned(whole), before = planned(first), after = planned(second);
  train(whole, step, 0, 24);
  train(first, before, 0, 12);
  Checkpoint checkpoint;
  first.trainer().save(checkpoint);
  // The second net has trained on something else, with its plan made.
  train(second, after, 30, 40);
  const nn::ParameterList from = first.net().parameters(), to = second.net().parameters();
  for (size_t i = 0; i < from.size(); ++i) to[i].parameter.set_data(from[i].parameter.data());
  second.trainer().restore(checkpoint);
  train(second, after, 12, 24);
  expect_same_nets(whole, second);
  EXPECT_GT(after.counts().replayed, 10);
}

INSTANTIATE_TEST_SUITE_P(Works, PlannedSteps, testing::ValuesIn(kWorks),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PlannedStep, ANonFiniteGradientIsSkippedAndCounted) {
  const Work work{"", mlp, {7}, optim::SGD(), {.non_finite = NonFinite::skip}};
  Training training(work);
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); });
  const auto [x, label] = training.batch(0, 8);
  for (int i = 0; i < 6; ++i) step(x, label);
  const Tensor kept = training.net().parameters()[0].parameter.data().clone();
  const Tensor bad = x.clone();
  bad.fill(std::numeric_limits<double>::infinity());
  step(bad, label);
  EXPECT_EQ(training.trainer().skipped(), 1);
  EXPECT_EQ(training.trainer().steps(), 6);
  EXPECT_TRUE(same_bits(kept, training.net().parameters()[0].parameter.data()));
  step(x, label);
  EXPECT_EQ(training.trainer().steps(), 7);
  EXPECT_FALSE(same_bits(kept, training.net().parameters()[0].parameter.data()));
}

TEST(PlannedStep, ANonFiniteNormIsTheErrorOfTheEagerStep) {
  const Work work{"", mlp, {7}, optim::SGD(), {.clip_norm = 1}};
  Training training(work);
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); });
  const auto [x, label] = training.batch(0, 8);
  for (int i = 0; i < 6; ++i) step(x, label);
  const Tensor bad = x.clone();
  bad.fill(std::numeric_limits<double>::infinity());
  EXPECT_THROW(step(bad, label), Error);
  EXPECT_EQ(training.trainer().steps(), 6);
  step(x, label);
  EXPECT_EQ(training.trainer().steps(), 7);
}

TEST(PlannedStep, FollowsANewLearningRateWithoutANewPlan) {
  const Work work{"", mlp, {7}, optim::SGD({.learning_rate = 0.1})};
  Training training(work);
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); });
  const auto [x, label] = training.batch(0, 8);
  for (int i = 0; i < 6; ++i) step(x, label);
  training.trainer().set_learning_rate(0);
  const Tensor kept = training.net().parameters()[0].parameter.data().clone();
  step(x, label);
  EXPECT_TRUE(same_bits(kept, training.net().parameters()[0].parameter.data()));
  EXPECT_EQ(step.counts().plans, 1);
}

TEST(PlannedStep, FreezingAParameterPlansAnew) {
  const Work work{"", mlp, {7}, optim::SGD({.learning_rate = 0.1})};
  Training training(work);
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); });
  const auto [x, label] = training.batch(0, 8);
  for (int i = 0; i < 6; ++i) step(x, label);
  training.net().parameters("^0").freeze();
  const Tensor kept = training.net().parameters()[0].parameter.data().clone();
  for (int i = 0; i < 6; ++i) step(x, label);
  EXPECT_TRUE(same_bits(kept, training.net().parameters()[0].parameter.data()));
  EXPECT_EQ(step.counts().plans, 2);
}

TEST(PlannedStep, EagerAndPlannedStepsMayAlternate) {
  const Work& work = kWorks[1];
  Training eager(work), mixed(work);
  auto step = plan([&](const Tensor& x, const Tensor& label) { return mixed.step(x, label); });
  for (int i = 0; i < 20; ++i) {
    const auto [x, label] = eager.batch(i, 8);
    const Tensor wanted = eager.step(x, label);
    EXPECT_TRUE(same_bits(i % 3 == 2 ? mixed.step(x, label) : step(x, label), wanted)) << i;
  }
  expect_same_nets(eager, mixed);
  EXPECT_GT(step.counts().replayed, 5) << step.explain();
}

TEST(PlannedStep, StepsOfATrainerWithoutABackwardInsideAreStaleAsEver) {
  const Work work{"", mlp, {7}, optim::SGD({.learning_rate = 0.1})};
  Training training(work);
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); });
  const auto [x, label] = training.batch(0, 8);
  for (int i = 0; i < 6; ++i) step(x, label);
  EXPECT_THROW(training.trainer().step(8), Error);
}

TEST(PlannedStep, AHookOnAModuleMakesItRunEagerly) {
  const Work work{"", mlp, {7}, optim::SGD({.learning_rate = 0.1})};
  Training training(work);
  int calls = 0;
  const nn::HookHandle hook =
      training.net().add_hook([&](nn::Module&, std::span<const Tensor>, Tensor&) { ++calls; });
  auto step = plan([&](const Tensor& x, const Tensor& label) { return training.step(x, label); });
  const auto [x, label] = training.batch(0, 8);
  for (int i = 0; i < 10; ++i) step(x, label);
  EXPECT_EQ(calls, 10);
  EXPECT_NE(step.explain().find("hooks"), std::string::npos);
}

}  // namespace
}  // namespace thalweg::train
