// What explain() says of each record: operations, bytes, times, places.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/attention.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/recurrent.h>
#include <thalweg/ops/reduce.h>

#include "graph/record_cost.h"
#include "graph/traced.h"

namespace thalweg {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string explained(const PlanOptions& options = {}) {
  const Tensor w = Tensor::ones({64, 32});
  w.attach_grad();
  auto f = plan(
      [&](const Tensor& x) {
        Tensor loss;
        {
          const Record record;
          loss = sum(tanh(matmul(x, w)));
        }
        loss.backward();
        return loss;
      },
      options);
  for (int i = 0; i < 6; ++i) f(Tensor::ones({8, 64}));
  return f.explain();
}

TEST(Explain, SaysWhatARecordComputesAndMovesAndWhatThatShouldTake) {
  const std::string text = explained();
  EXPECT_THAT(text, HasSubstr("signature (f32 [8, 64])\n"));
  EXPECT_THAT(text, HasSubstr("training: gradients of 1 leaves; "));
  EXPECT_THAT(text, HasSubstr("1.000 times the"));
  EXPECT_THAT(text, HasSubstr("expected: "));
  EXPECT_THAT(text, HasSubstr("no.  expected  operations     bytes  record\n"));
  // 2 * 8 * 64 * 32 operations, 4 * (8 * 64 + 64 * 32 + 8 * 32) bytes.
  EXPECT_THAT(text, testing::ContainsRegex("s  *32.8 k  *11.0 KiB  t[0-9]+ f32 .8, 32. = matmul"));
  EXPECT_THAT(text, testing::ContainsRegex("= tanh.*; in place of t[0-9]+; "));
  EXPECT_THAT(text, Not(HasSubstr("measured")));
}

TEST(Explain, SetsTheMeasuredTimeBesideTheExpectedOne) {
  const std::string text = explained({.measure = true});
  EXPECT_THAT(text, testing::ContainsRegex("expected: .*; measured: .*, the mean of 4 replays\n"));
  EXPECT_THAT(text, HasSubstr("no.  measured  expected  operations"));
}

TEST(Explain, SaysWhichRecordStandsForMore) {
  auto f = plan([](const Tensor& x) { return exp(x) * 2 + exp(x) * exp(x); });
  for (int i = 0; i < 4; ++i) f(Tensor::ones({3}));
  EXPECT_THAT(f.explain(), testing::ContainsRegex("= exp.*; shared by 3 records; "));
}

// --- operations and bytes ---

RecordCost cost(const Traced& t, const char* op) {
  for (const PlanRecord& r : t.graph.records) {
    if (r.op && std::string_view(r.op->name) == op) return cost_of(r);
  }
  ADD_FAILURE() << "no " << op;
  return {};
}

Tensor gradient_of_sum(const Tensor& x, const std::function<Tensor()>& f) {
  Tensor y;
  {
    const Record record;
    y = sum(f());
  }
  return grad(y, x);
}

TEST(Costs, OfAttentionAndItsGradientAreProductsOfQueriesKeysAndValues) {
  const Traced t(Tensor::ones({2, 4, 6, 8}), [](const Tensor& x) {
    const Tensor q = x.detach().attach_grad();
    return gradient_of_sum(q, [&] {
      return attention(q, Tensor::ones({2, 4, 5, 8}), Tensor::ones({2, 4, 5, 3}));
    });
  });
  const int64_t scores = 2 * 4 * 6 * 5;
  EXPECT_EQ(cost(t, "attention").operations, 2 * scores * (8 + 3));
  EXPECT_EQ(cost(t, "attention_vjp").operations, 2 * scores * (3 * 8 + 2 * 3));
}

TEST(Costs, OfARecurrentLayersGradientAreTwiceThoseOfItsProducts) {
  const Traced t(Tensor::ones({2, 5, 4 * 3}), [](const Tensor& x) {
    const Tensor gates = x.detach().attach_grad();
    return gradient_of_sum(gates, [&] {
      return recurrent(RecurrentCell::lstm, gates, Tensor::ones({4 * 3, 3})).y;
    });
  });
  const int64_t gates = 2 * 5 * 4 * 3;
  EXPECT_EQ(cost(t, "recurrent").operations, 2 * gates * 3 + gates);
  EXPECT_EQ(cost(t, "recurrent_vjp").operations, 4 * gates * 3 + gates);
}

TEST(Costs, OfPickedRowsAreNotThoseOfTheTable) {
  const Tensor table = Tensor::ones({1000, 8});
  const Traced t(Tensor::of({int64_t{1}, int64_t{5}}),
                 [&](const Tensor& rows) { return embedding(rows, table); });
  EXPECT_EQ(cost(t, "take").bytes, 2 * 8 * 4 + 2 * 8 + 2 * 8 * 4);
}

}  // namespace
}  // namespace thalweg
