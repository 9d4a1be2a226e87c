// Clipping by hand and in the Trainer: tensorflow#22048, Paddle#32038, pytorch#46849, #31367.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/train/clip.h>
#include <thalweg/train/trainer.h>

#include "base/expect_error.h"
#include "train/fixture.h"

namespace thalweg::train {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Pair {
  Pair(double a, double b) : tensors{Tensor::of({a}), Tensor::of({b})} {}
  double a() const { return tensors[0].item<double>(); }
  double b() const { return tensors[1].item<double>(); }
  std::vector<Tensor> tensors;
};

TEST(ClipGlobalNorm, LeavesZerosAlone) {
  Pair g(0, 0);
  EXPECT_EQ(clip_global_norm(g.tensors, 1), 0);
  EXPECT_EQ(g.a(), 0);
  EXPECT_EQ(g.b(), 0);
}

TEST(ClipGlobalNorm, ScalesAllTensorsTogether) {
  Pair g(3, 4);
  EXPECT_EQ(clip_global_norm(g.tensors, 10), 5);
  EXPECT_EQ(g.a(), 3);
  EXPECT_EQ(clip_global_norm(g.tensors, 5), 5);
  EXPECT_NEAR(g.b(), 4, 4 * 2e-6);
  EXPECT_EQ(clip_global_norm(g.tensors, 1), 5);
  EXPECT_NEAR(g.a(), 0.6, 2e-6);
  EXPECT_NEAR(g.b(), 0.8, 2e-6);
}

TEST(ClipGlobalNorm, ReportsANormThatIsNotFiniteAndChangesNothing) {
  for (const double bad : {kInfinity, std::nan("")}) {
    Pair g(1, bad);
    const std::string text =
        error_text(ErrorKind::invalid, [&] { clip_global_norm(g.tensors, 1); });
    EXPECT_NE(text.find("tensor 1 of 2 is the first that is not finite"), std::string::npos)
        << text;
    EXPECT_EQ(g.a(), 1);
  }
}

TEST(ClipGlobalNorm, OfHalfGradientsIsMeasuredInF32) {
  const std::vector<Tensor> g{Tensor::of({60000.0, 60000.0}).to(DType::f16)};
  EXPECT_NEAR(clip_global_norm(g, 1), 84852.81, 0.01);
  EXPECT_EQ(numbers(g[0]), (std::vector{0.70703125, 0.70703125}));
}

TEST(ClipGlobalNorm, RefusesANegativeLimit) {
  Pair g(3, 4);
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { clip_global_norm(g.tensors, -1); }),
            "clip_global_norm: the limit is -1; it must not be negative");
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { clip_value(g.tensors, -1); }),
            "clip_value: the limit is -1; it must not be negative");
}

TEST(ClipValue, HoldsElementsWithinTheLimit) {
  Pair g(-3, 0.5);
  clip_value(g.tensors, 1);
  EXPECT_EQ(g.a(), -1);
  EXPECT_EQ(g.b(), 0.5);
}

TEST(ClipNorm, HasTheIdentityAsDerivativeAtZero) {
  const Tensor x = Tensor::zeros({3}, {.dtype = DType::f64});
  x.attach_grad();
  Tensor y;
  {
    Record record;
    y = clip_norm(x, 1);
  }
  y.backward(Tensor::of({1.0, -2.0, 3.0}));
  EXPECT_EQ(numbers(x.grad()), (std::vector{1.0, -2.0, 3.0}));
}

TEST(ClipNorm, ScalesLongVectors) {
  const Tensor y = clip_norm(Tensor::of({3.0, 4.0}), 1);
  EXPECT_NEAR(numbers(y)[0], 0.6, 1e-12);
  EXPECT_NEAR(numbers(y)[1], 0.8, 1e-12);
}

// --- in the Trainer ---
struct TwoWeights {
  nn::Parameter a = parameter("a", Tensor::of({0.0}));
  nn::Parameter b = parameter("b", Tensor::of({0.0}));
  nn::ParameterList list{{{"a", a}, {"b", b}}};

  void give(double ga, double gb) {
    give_gradient(a, Tensor::of({ga}));
    give_gradient(b, Tensor::of({gb}));
  }
};

TEST(TrainerClipping, ByNormSeesGradientsDividedByTheBatchSize) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD({.learning_rate = 1}), {.clip_norm = 1});
  w.give(30, 40);
  EXPECT_TRUE(trainer.step(10));
  EXPECT_NEAR(trainer.gradient_norm(), 5, 1e-12);
  EXPECT_NEAR(w.a.data().item<double>(), -0.6, 1e-12);
  EXPECT_NEAR(w.b.data().item<double>(), -0.8, 1e-12);
}

TEST(TrainerClipping, ByValueSeesGradientsDividedByTheBatchSize) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD({.learning_rate = 1}), {.clip_value = 2});
  w.give(30, -5);
  trainer.step(10);
  EXPECT_EQ(w.a.data().item<double>(), -2);
  EXPECT_EQ(w.b.data().item<double>(), 0.5);
}

TEST(TrainerClipping, ANormThatIsNotFiniteIsAnErrorNamingTheParameter) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD({.learning_rate = 1}), {.clip_norm = 1});
  w.give(1, kInfinity);
  const std::string text = error_text(ErrorKind::invalid, [&] { trainer.step(1); });
  EXPECT_EQ(text,
            "trainer: the norm of the gradients is inf at step 1; the first parameter with such a "
            "gradient is b; weights are unchanged");
  EXPECT_EQ(w.a.data().item<double>(), 0);
  EXPECT_EQ(trainer.steps(), 0);
}

TEST(TrainerClipping, ANormThatIsNotFiniteMaySkipTheStep) {
  TwoWeights w;
  Trainer trainer(w.list, optim::SGD({.learning_rate = 1}), {.non_finite = NonFinite::skip});
  w.give(std::nan(""), 1);
  EXPECT_FALSE(trainer.step(1));
  EXPECT_EQ(w.b.data().item<double>(), 0);
  EXPECT_EQ(trainer.skipped(), 1);
  EXPECT_EQ(trainer.steps(), 0);
  w.give(1, 1);
  EXPECT_TRUE(trainer.step(1));
  EXPECT_EQ(trainer.steps(), 1);
}

TEST(TrainerClipping, RefusesNegativeLimitsAndBothAtOnce) {
  TwoWeights w;
  const auto make = [&](TrainerOptions options) {
    return error_text(ErrorKind::invalid, [&] { Trainer(w.list, optim::SGD(), options); });
  };
  EXPECT_EQ(make({.clip_norm = -1}), "trainer: clip_norm is -1; it must not be negative");
  EXPECT_EQ(make({.clip_value = 1, .clip_norm = 2}),
            "trainer: clip_value 1 and clip_norm 2; choose one");
}

}  // namespace
}  // namespace thalweg::train
