#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/nn/dense.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/train/averager.h>
#include <thalweg/train/checkpoint.h>
#include <thalweg/train/trainer.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "train/fixture.h"

namespace thalweg::train {
namespace {

struct TwoWeights {
  nn::Parameter a = parameter("a", Tensor::of({1.0}));
  nn::Parameter b = parameter("b", Tensor::of({1.0}));
  nn::ParameterList list{{{"a", a}, {"b", b}}};

  double value(const nn::Parameter& p) const { return p.data().item<double>(); }
};

void give(const nn::Parameter& p, double gradient) { give_gradient(p, Tensor::of({gradient})); }

TEST(Trainer, DividesGradientsByTheBatchSizeAndFollowsTheSchedule) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD({.learning_rate = 1}),
                  {.schedule = schedule::step({.every = 1, .factor = 0.5})});
  give(w.a, 4);
  give(w.b, 8);
  trainer.step(8);
  EXPECT_EQ(w.value(w.a), 0.5);
  EXPECT_EQ(w.value(w.b), 0);
  EXPECT_EQ(trainer.learning_rate(), 0.5);
  trainer.set_learning_rate(4);
  EXPECT_EQ(trainer.learning_rate(), 2);
  EXPECT_EQ(trainer.steps(), 1);
}

TEST(Trainer, RefusesAStaleGradientUnlessToldToLeaveItOut) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD({.learning_rate = 1}));
  give(w.a, 1);
  const std::string text = error_text(ErrorKind::invalid, [&] { trainer.step(1); });
  EXPECT_NE(text.find("trainer: b has no gradient newer than the last step"), std::string::npos);
  EXPECT_EQ(w.value(w.a), 1);
  trainer.step(1, {.ignore_stale_grad = true});
  EXPECT_EQ(w.value(w.a), 0);
  EXPECT_EQ(w.value(w.b), 1);
  error_text(ErrorKind::invalid, [&] { trainer.step(1); });  // both were used
}

TEST(Trainer, LeavesFrozenParametersAloneAndTakesThemUpAgain) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD({.learning_rate = 1, .momentum = 0.5}));
  w.b.set_grad_req(GradReq::null);
  give(w.a, 1);
  trainer.step(1);
  EXPECT_EQ(w.value(w.b), 1);
  w.b.set_grad_req(GradReq::write);
  give(w.a, 1);
  give(w.b, 1);
  trainer.step(1);
  EXPECT_EQ(w.value(w.a), -1.5);
  EXPECT_EQ(w.value(w.b), 0);
}

TEST(Trainer, ErrorsNameWhatIsWrong) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD());
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { trainer.step(0); }),
            "trainer: step(0); a batch has a sample at least");
  w.a.set_grad_req(GradReq::null);
  w.b.set_grad_req(GradReq::null);
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { trainer.step(1); }),
            "trainer: every parameter's GradReq is null; unfreeze() what is to be trained");
  const auto groups = [&](const nn::Parameter& second, const std::string& name) {
    const nn::ParameterList other({{name, second}});
    return error_text(ErrorKind::invalid, [&] {
      Trainer({{w.list, optim::SGD()}, {other, optim::SGD()}});
    });
  };
  EXPECT_EQ(groups(w.a, "tied"),
            "trainer: tied is in two groups, also as a; groups must not share a parameter");
  EXPECT_EQ(groups(parameter("a", Tensor::of({1.0})), "a"),
            "trainer: two parameters are called a; put the nets into one module");
}

TEST(Trainer, NamesTheFirstGradientThatIsNotFinite) {
  TwoWeights w;
  const Trainer trainer(w.list, optim::SGD());
  give(w.a, 1);
  give(w.b, 1);
  EXPECT_EQ(trainer.first_non_finite_gradient(), "");
  give(w.b, std::numeric_limits<double>::infinity());
  EXPECT_EQ(trainer.first_non_finite_gradient(), "b");
}

TEST(Trainer, StatesSavedAndLoadedGoOnWithTheSameBits) {
  const TempDir folder;
  TwoWeights one, two;
  const optim::Adam adam({.learning_rate = 0.1});
  const TrainerOptions options{.schedule = schedule::cosine({.steps = 10})};
  Trainer first(one.list, adam, options), second(two.list, adam, options);
  const auto step = [](TwoWeights& w, Trainer& trainer, int t) {
    give(w.a, 1 + t);
    give(w.b, 2 - t);
    trainer.step(1);
  };
  for (int t = 0; t < 3; ++t) step(one, first, t);
  first.save_states(folder / "states");
  second.load_states(folder / "states");
  two.a.set_data(one.a.data());
  two.b.set_data(one.b.data());
  for (int t = 3; t < 6; ++t) {
    step(one, first, t);
    step(two, second, t);
  }
  EXPECT_EQ(one.value(one.a), two.value(two.a));
  EXPECT_EQ(one.value(one.b), two.value(two.b));
  EXPECT_EQ(second.steps(), 6);
}

TEST(Trainer, StatesOfAnotherOptimizerAreRefused) {
  const TempDir folder;
  TwoWeights w;
  Trainer momentum(w.list, optim::SGD({.momentum = 0.9})), adam(w.list, optim::Adam());
  give(w.a, 1);
  give(w.b, 1);
  momentum.step(1);
  momentum.save_states(folder / "states");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { adam.load_states(folder / "states"); }),
            "checkpoint: tensor trainer/mean/a is missing in " + folder / "states");
}

// --- keras#18972, tensorflow#2825 ---
TEST(WeightAverager, OfConstantWeightsIsExactlyThese) {
  TwoWeights w;
  WeightAverager averager(w.list, {.decay = 0.9});
  for (int i = 0; i < 3; ++i) {
    averager.update();
    EXPECT_EQ(averager.average(0).item<double>(), 1);
  }
}

TEST(WeightAverager, StartsFromTheFirstWeights) {
  TwoWeights w;
  WeightAverager averager(w.list, {.decay = 0.9});
  const double expected[] = {0.99, 0.971, 0.9439};
  for (int i = 0; i < 3; ++i) {
    w.a.set_data(Tensor::of({0.9 - 0.1 * i}));
    averager.update();
    EXPECT_NEAR(averager.average(0).item<double>(), expected[i], 1e-12);
  }
  averager.swap();
  EXPECT_NEAR(w.value(w.a), 0.9439, 1e-12);
  error_text(ErrorKind::invalid, [&] { averager.update(); });
  averager.swap();
  EXPECT_NEAR(w.value(w.a), 0.7, 1e-12);
}

}  // namespace
}  // namespace thalweg::train
