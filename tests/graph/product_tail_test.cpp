// Products that go on with the point-wise records behind them.

#include <algorithm>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include <thalweg/base/threads.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/views.h>

#include "graph/passes.h"
#include "graph/program.h"
#include "graph/trace.h"

namespace thalweg {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

PlanGraph traced(const Tensor& x, const Function& f, Tensor& expected) {
  const TensorImpl* const in[] = {x.impl()};
  Trace trace(in);
  std::vector<Tensor> results{f(x)};
  trace.finish(results);
  EXPECT_EQ(trace.refusal(), "");
  expected = results[0].clone();
  return graph_of(trace);
}

Tensor replayed(PlanGraph graph, const Tensor& x) {
  Program program(std::move(graph));
  const TensorImpl* const in[] = {x.impl()};
  EXPECT_EQ(program.refusal(in), nullptr);
  Tensor result[1];
  program.replay(in, result);
  return result[0];
}

/// The names of the records after the passes; the replay has the bits of the traced call.
std::vector<std::string> planned(const Tensor& x, const Function& f) {
  Tensor expected;
  PlanGraph graph = traced(x, f, expected);
  run_passes(graph);
  std::vector<std::string> names;
  for (const PlanRecord& r : graph.records) names.push_back(r.op->name);
  const Tensor got = replayed(std::move(graph), x);
  EXPECT_EQ(got.shape(), expected.shape());
  EXPECT_EQ(std::memcmp(got.contiguous().impl()->data, expected.impl()->data,
                        static_cast<size_t>(got.size()) * item_size(got.dtype())),
            0);
  return names;
}

using Names = std::vector<std::string>;

struct Layer {
  Tensor weight, bias;
  explicit Layer(int64_t out, int64_t in)
      : weight(random_uniform({out, in}, -1, 1)), bias(random_uniform({out}, -1, 1)) {}
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
};

TEST(ProductTail, AnActivationRunsOnRowsOfItsLayer) {
  manual_seed(1);
  const Layer layer(96, 40);
  for (const int64_t rows : {171, 300, 1000}) {
    const Tensor x = random_uniform({rows, 40}, -1, 1);
    EXPECT_EQ(planned(x, [&](const Tensor& t) { return gelu_tanh(layer(t)); }),
              Names{"linear, gelu_tanh"});
  }
}

TEST(ProductTail, WhatElseReadsTheProductGetsIt) {
  manual_seed(2);
  const Layer layer(64, 32), other(64, 64);
  const Tensor x = random_uniform({5, 120, 32}, -1, 1);
  const auto f = [&](const Tensor& t) {
    const Tensor y = layer(t);
    return other(relu(y)) * y;
  };
  EXPECT_EQ(planned(x, f), (Names{"linear, relu", "linear, mul"}));
}

TEST(ProductTail, ASumWithAnotherTensorAndWhatFollowsIt) {
  manual_seed(3);
  const Layer layer(48, 48);
  const Tensor x = random_uniform({700, 48}, -1, 1);
  EXPECT_EQ(planned(x, [&](const Tensor& t) { return tanh(t + layer(t)) * 2; }),
            Names{"linear, add, tanh, mul"});
}

TEST(ProductTail, ProductsOfOtherBlockingsGoOnAsWell) {
  manual_seed(4);
  const Tensor few = random_uniform({60, 500}, -1, 1), b = random_uniform({500, 600}, -1, 1);
  EXPECT_EQ(planned(few, [&](const Tensor& t) { return relu(matmul(t, b)); }),
            Names{"matmul, relu"});
  const Tensor stack = random_uniform({10, 50, 20}, -1, 1),
               stack_b = random_uniform({10, 20, 60}, -1, 1);
  EXPECT_EQ(planned(stack, [&](const Tensor& t) { return relu(matmul(t, stack_b)); }),
            Names{"matmul, relu"});
}

TEST(ProductTail, OfAnotherOrderOrForOthersIsARecordOfItsOwn) {
  manual_seed(5);
  const Layer layer(256, 256);
  const Tensor x = random_uniform({256, 256}, -1, 1), state = Tensor::zeros({256, 256});
  EXPECT_EQ(planned(x, [&](const Tensor& t) { return relu(transpose(layer(t))); }),
            (Names{"linear", "relu"}));
  const auto into_state = [&](const Tensor& t) {
    state.assign(relu(layer(t)));
    return t + 1;
  };
  EXPECT_EQ(planned(x, into_state), (Names{"linear", "fused"}));
  EXPECT_EQ(
      planned(random_uniform({4, 256}, -1, 1), [&](const Tensor& t) { return relu(layer(t)); }),
      (Names{"linear", "relu"}));
}

TEST(ProductTail, GivesTheSameBitsOnAnyNumberOfThreads) {
  manual_seed(6);
  const Layer layer(128, 64);
  const Tensor x = random_uniform({2000, 64}, -1, 1);
  const int before = num_threads();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    planned(x, [&](const Tensor& t) { return sigmoid(layer(t)); });
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace thalweg
