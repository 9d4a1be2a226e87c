#pragma once

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/train/trainer.h>

#include "train/fixture.h"

namespace thalweg::train {

struct InputAndLabel {
  Tensor x, label;
};

/// Trains the net for `steps` steps on batch(step), eagerly or as a plan, and fails the test unless
/// each mean cross-entropy is the expected one, within `tolerance` of it, and a plan was replayed.
template <typename Batch>
void expect_net_losses(nn::Sequential& net, const optim::Optimizer& optimizer, const Json& expected,
                       size_t steps, bool planned, double tolerance, Batch&& batch) {
  Trainer trainer(net.parameters(), optimizer);
  const auto eager = [&](const Tensor& x, const Tensor& label) {
    Tensor loss;
    {
      Record record;
      loss = softmax_cross_entropy(net(x), label);
    }
    loss.backward();
    trainer.step(loss.size());
    return loss;
  };
  auto replayed = plan(eager);
  ASSERT_LE(steps, expected.size());
  for (size_t step = 0; step < steps; ++step) {
    const InputAndLabel given = batch(static_cast<int64_t>(step));
    const Tensor losses = planned ? replayed(given.x, given.label) : eager(given.x, given.label);
    const double loss = mean(losses).to(DType::f64).item<double>();
    const auto wanted = expected[step].get<double>();
    ASSERT_NEAR(loss, wanted, tolerance * wanted) << "step " << step;
  }
  if (planned) {
    EXPECT_GE(replayed.counts().replayed, static_cast<int64_t>(steps) - 3) << replayed.explain();
  }
}

}  // namespace thalweg::train
