// Values that are computed again so that temporaries fit into a budget: less memory, the same bits.

#include <optional>

#include <gtest/gtest.h>

#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/norm.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "graph/memory_plan.h"
#include "graph/pass_recompute.h"
#include "graph/passes.h"
#include "graph/traced.h"

namespace thalweg {
namespace {

constexpr size_t kOne = 64 * 64 * sizeof(float);

// Something to multiply that stays small.
Tensor square_matrix() { return reshape(arange(64 * 64, {DType::f32}), {64, 64}) * 1e-4; }

// Three products on the way from here to there: two of their operands and the result live at once.
Tensor products(const Tensor& x) {
  const Tensor a = matmul(x, x), b = matmul(a, a);
  return matmul(b, a);
}

void fit(Traced& t, size_t bytes) {
  fit_into(t.graph, bytes, [](PlanGraph&) {});
}

int64_t repeated(const PlanGraph& graph) {
  return std::ranges::count_if(graph.records, &PlanRecord::is_again);
}

TEST(Recompute, ACheapValueThatWaitsForItsUseIsMadeThere) {
  Traced t(square_matrix(), [](const Tensor& x) {
    const Tensor kept = exp(x);
    return products(x) + kept;
  });
  EXPECT_EQ(plan_memory(t.graph).bytes, 4 * kOne);
  fit(t, 3 * kOne);
  EXPECT_EQ(plan_memory(t.graph).bytes, 3 * kOne);
  EXPECT_EQ(t.count("exp"), 2);
  EXPECT_EQ(repeated(t.graph), 1);
  ASSERT_FALSE(t.graph.notes.empty());
  EXPECT_NE(t.graph.notes.back().find("1 records run again"), std::string::npos)
      << t.graph.notes.back();
  t.expect_same();
}

TEST(Recompute, NothingIsRepeatedWhereAllFits) {
  Traced t(square_matrix(), [](const Tensor& x) {
    const Tensor kept = exp(x);
    return products(x) + kept;
  });
  fit(t, 4 * kOne);
  EXPECT_EQ(repeated(t.graph), 0);
  EXPECT_TRUE(t.graph.notes.empty());
}

TEST(Recompute, WhatItIsMadeFromIsRepeatedTooIfItIsGone) {
  Traced t(square_matrix(), [](const Tensor& x) {
    const Tensor kept = exp(tanh(x));
    return products(x) + kept;
  });
  fit(t, 3 * kOne);
  EXPECT_EQ(repeated(t.graph), 2);
  t.expect_same();
}

TEST(Recompute, ProductsAreNotRepeated) {
  Traced t(square_matrix(), [](const Tensor& x) {
    const Tensor kept = matmul(x, transpose(x));
    return products(x) + kept;
  });
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { fit(t, 3 * kOne); }),
            "plan: a memory budget of 49152 bytes is too small; temporaries take 65536 bytes where "
            "nothing is computed again, and 65536 at the least");
  EXPECT_EQ(repeated(t.graph), 0);
  t.expect_same();
}

TEST(Recompute, OperandsThatChangedMeanwhileAreNotReadAgain) {
  const Tensor w = square_matrix();
  const Tensor before = w.clone();
  Traced t(square_matrix(), [&](const Tensor& x) {
    const Tensor kept = exp(w);
    const Tensor y = products(x);
    w += 1;
    return y + kept;
  });
  EXPECT_THROW(fit(t, 3 * kOne), Error);
  w.assign(before);
  t.expect_same();
}

// The least is what some budget reaches, whatever budget was asked for before.
TEST(Recompute, TheLeastThatAnErrorSaysIsPossible) {
  const auto body = [](const Tensor& x) {
    const Tensor a = exp(x), b = tanh(x), c = sigmoid(x), d = matmul(x, transpose(x));
    return products(x) + a * b + c * d;
  };
  Traced t(square_matrix(), body);
  const size_t before = plan_memory(t.graph).bytes;
  const std::string text = error_text(ErrorKind::invalid, [&] { fit(t, 1); });
  const std::string last = text.substr(text.rfind("and ") + 4);
  const size_t least = std::stoul(last);
  EXPECT_LT(least, before);
  EXPECT_THROW(fit(t, least - 64), Error);
  fit(t, least);
  EXPECT_LE(plan_memory(t.graph).bytes, least);
  t.expect_same();
}

// --- as users see it ---

// A net whose activations, norms and dropout wait for the backward pass.
Tensor train_step(const std::vector<Tensor>& weights, const Tensor& x) {
  Tensor loss;
  {
    const Record record;
    Tensor y = x;
    for (const Tensor& w : weights)
      y = dropout(gelu(layer_norm(linear(y, w), Tensor(), Tensor())), 0.25);
    loss = mean(square(y));
  }
  loss.backward();
  const Pause pause;
  for (const Tensor& w : weights) w -= w.grad() * 0.1;
  return loss;
}

std::vector<Tensor> weights_of(int64_t layers, int64_t units) {
  std::vector<Tensor> weights;
  for (int64_t i = 0; i < layers; ++i) {
    weights.push_back(random_normal({units, units}, 0, 0.2));
    weights.back().attach_grad();
  }
  return weights;
}

size_t arena_of(const std::string& explained) {
  const size_t at = explained.find("temporaries in ", explained.find("signature"));
  return std::stoul(explained.substr(at + 15));
}

TEST(MemoryBudget, HoldsForATrainingStepWhoseBitsStayWhatTheyWere) {
  struct Run {
    std::vector<float> losses, weight;
    std::string explained;
  };
  const auto run = [](int64_t budget) {
    manual_seed(7);
    const std::vector<Tensor> weights = weights_of(6, 64);
    auto step =
        plan([&](const Tensor& x) { return train_step(weights, x); }, {.memory_budget = budget});
    Run r;
    for (int i = 0; i < 8; ++i) r.losses.push_back(step(random_normal({512, 64})).item<float>());
    r.weight = weights[0].to_vector<float>();
    r.explained = step.explain();
    EXPECT_GE(step.counts().replayed, 5) << r.explained;
    return r;
  };
  const Run all = run(0);
  const size_t before = arena_of(all.explained);
  const auto budget = static_cast<int64_t>(before * 2 / 3);
  const Run less = run(budget);
  EXPECT_LE(arena_of(less.explained), static_cast<size_t>(budget)) << less.explained;
  EXPECT_NE(less.explained.find("again, for memory"), std::string::npos) << less.explained;
  EXPECT_EQ(less.losses, all.losses);
  EXPECT_EQ(less.weight, all.weight);
}

TEST(MemoryBudget, BelowWhatIsPossibleIsAnErrorOfTheCall) {
  auto f = plan([](const Tensor& x) { return products(x); }, {.memory_budget = 64});
  const Tensor x = square_matrix();
  f(x);
  const std::string text = error_text(ErrorKind::invalid, [&] { f(x); });
  EXPECT_NE(text.find("a memory budget of 64 bytes is too small"), std::string::npos) << text;
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { plan([] {}, {.memory_budget = -1}); }),
            "plan: memory_budget is -1; it must not be negative");
}

}  // namespace
}  // namespace thalweg
