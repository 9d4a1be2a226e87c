// Passes and the memory plan, each on small graphs that are traced here.

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "graph/memory_plan.h"
#include "graph/passes.h"
#include "graph/traced.h"

namespace thalweg {
namespace {

const Tensor kX = Tensor::of<float>({0.25f, -1, 2, 0.5f, 3, -0.125f}, {2, 3});

// --- dead records ---
TEST(DeadRecords, GoWithEverythingThatOnlyTheyRead) {
  Traced t(kX, [](const Tensor& x) {
    exp(tanh(x) * 2);
    return x + 1;
  });
  remove_dead_records(t.graph);
  EXPECT_EQ(t.graph.records.size(), 1u);
  t.expect_same();
}

TEST(DeadRecords, StayWhereTheyChangeSomethingOfOthers) {
  const Tensor state = Tensor::zeros({2, 3});
  Traced t(kX, [&](const Tensor& x) {
    state.assign(x * 2);
    return x + 1;
  });
  remove_dead_records(t.graph);
  EXPECT_EQ(t.count("cast"), 1);
  state.fill(0);
  t.expect_same();
  EXPECT_EQ(state.to_vector<float>()[4], 6);
}

TEST(DeadRecords, StayWhereTheyMayRefuseAnIndex) {
  const Tensor index = Tensor::of<int64_t>({0, 1});
  Traced t(kX, [&](const Tensor& x) {
    take(x, index, 0);
    return x + 1;
  });
  remove_dead_records(t.graph);
  EXPECT_EQ(t.count("take"), 1);
}

TEST(DeadRecords, ChangesInPlaceOfWhatIsReadLaterStay) {
  Traced t(kX, [](const Tensor& x) {
    const Tensor y = tanh(x);
    y += 1;
    y[0].fill(5);
    return y * 2;
  });
  remove_dead_records(t.graph);
  EXPECT_EQ(t.graph.records.size(), 4u);
  t.expect_same();
}

// --- common sub-expressions ---
TEST(CommonRecords, AreComputedOnce) {
  Traced t(kX, [](const Tensor& x) { return tanh(x) * tanh(x) + exp(tanh(x)); });
  share_common_records(t.graph);
  EXPECT_EQ(t.count("tanh"), 1);
  t.expect_same();
}

TEST(CommonRecords, DifferInAttributesOperandsAndViews) {
  Traced t(kX, [](const Tensor& x) {
    // The first and the last tanh are one; that of the transpose is another.
    return sum(x, {0}, true) + sum(x, {1}, true) + sum(tanh(x), {0}, true) +
           sum(tanh(transpose(x)), {1}, true)[0] + sum(tanh(x), {1}, true);
  });
  share_common_records(t.graph);
  EXPECT_EQ(t.count("sum"), 5);
  EXPECT_EQ(t.count("tanh"), 2);
  t.expect_same();
}

TEST(CommonRecords, AreNotOneAcrossAChangeInPlace) {
  Traced t(kX.clone(), [](const Tensor& x) {
    const Tensor before = tanh(x);
    x += 1;
    return before + tanh(x);
  });
  share_common_records(t.graph);
  EXPECT_EQ(t.count("tanh"), 2);
}

TEST(CommonRecords, RandomOnesAreEachTheirOwn) {
  Traced t(kX, [](const Tensor& x) { return x + random_uniform({2, 3}) - random_uniform({2, 3}); });
  share_common_records(t.graph);
  EXPECT_EQ(t.count("random_uniform"), 2);
}

TEST(CommonRecords, WhatIsChangedLaterIsNotShared) {
  Traced t(kX, [](const Tensor& x) {
    const Tensor a = tanh(x), b = tanh(x);
    a += 1;
    return a * b;
  });
  share_common_records(t.graph);
  EXPECT_EQ(t.count("tanh"), 2);
  t.expect_same();
}

// --- constants ---
TEST(Constants, AreComputedOnce) {
  Traced t(kX, [](const Tensor& x) {
    const Tensor scale = exp(Tensor::full({3}, 2)) * 3 + 1;
    return x * scale;
  });
  fold_constants(t.graph);
  EXPECT_EQ(t.graph.records.size(), 1u);
  t.expect_same();
}

TEST(Constants, ThatAreChangedInPlaceAreNone) {
  Traced t(kX, [](const Tensor& x) {
    const Tensor total = Tensor::ones({2, 3});
    total += x;
    return total * 2;
  });
  fold_constants(t.graph);
  EXPECT_EQ(t.count("add"), 1);
  t.expect_same();
  t.expect_same();
}

// --- memory ---
TEST(MemoryPlan, AChainOfMapsLiesInPlace) {
  Traced t(Tensor::ones({1000}), [](const Tensor& x) {
    Tensor y = x + 1;
    for (int i = 0; i < 10; ++i) y = tanh(y) * 2;
    return y + 1;
  });
  const MemoryPlan plan = plan_memory(t.graph);
  EXPECT_EQ(plan.bytes, 4032u);  // one tensor, rounded up
  EXPECT_EQ(plan.in_place, 20u);
  t.expect_same();
}

TEST(MemoryPlan, ProductsDoNotLieOverTheirOperands) {
  Traced t(Tensor::ones({16, 16}), [](const Tensor& x) {
    const Tensor a = x + 1, b = x + 2;
    const Tensor c = matmul(a, b);
    return matmul(c, x + 3) + 1;
  });
  const MemoryPlan plan = plan_memory(t.graph);
  EXPECT_EQ(plan.bytes, 3 * 1024u);
  EXPECT_EQ(plan.bytes, plan.peak);
  t.expect_same();
}

TEST(MemoryPlan, AnOperandThatIsReadInAnotherOrderIsNotWrittenOver) {
  Traced t(Tensor::ones({4, 4}) * 0.5, [](const Tensor& x) {
    const Tensor y = exp(x + Tensor::of<float>({1, 2, 3, 4}));
    return (y + transpose(y)) * 2;
  });
  t.expect_same();
}

TEST(MemoryPlan, BuffersThatLiveTogetherDoNotOverlap) {
  Traced t(Tensor::ones({64}), [](const Tensor& x) {
    std::vector<Tensor> kept;
    for (int i = 0; i < 8; ++i) kept.push_back(tanh(x * i));
    Tensor total = kept[7] * 1;
    for (int i = 0; i < 7; ++i) total = total + kept[i] * kept[i + 1];
    return total;
  });
  const MemoryPlan plan = plan_memory(t.graph);
  EXPECT_LE(static_cast<double>(plan.bytes), 1.1 * static_cast<double>(plan.peak));
  t.expect_same();
}

TEST(MemoryPlan, TensorsOfManySizesFitIntoLittleMoreThanWhatLivesAtOnce) {
  Traced t(Tensor::ones({700}), [](const Tensor& x) {
    std::vector<Tensor> kept;
    for (int64_t i = 1; i <= 40; ++i) {
      const Tensor part = slice(x, 0, 0, 16 * (1 + i * 7 % 41)) * 2;
      kept.push_back(sum(part) + part);
      if (kept.size() > 6) kept.erase(kept.begin() + i % 5);
    }
    Tensor total = Tensor::zeros({});
    for (const Tensor& k : kept) total = total + sum(k);
    return total;
  });
  const MemoryPlan plan = plan_memory(t.graph);
  EXPECT_LE(static_cast<double>(plan.bytes), 1.1 * static_cast<double>(plan.peak));
  t.expect_same();
}

}  // namespace
}  // namespace thalweg
