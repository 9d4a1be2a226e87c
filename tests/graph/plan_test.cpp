#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "graph/small_tensors.h"

namespace thalweg {
namespace {

// --- what is replayed ---

TEST(Plan, ReplaysAfterTwoEqualCallsWithNewElements) {
  auto f = plan([](const Tensor& x, const Tensor& y) { return tanh(x) * y + 1; });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = Tensor::full({3}, 0.1 * i), y = Tensor::full({3}, i);
    EXPECT_EQ(values(f(x, y)), values(tanh(x) * y + 1));
  }
  EXPECT_EQ(f.counts().traced, 2);
  EXPECT_EQ(f.counts().replayed, 4);
}

TEST(Plan, GivesOutNewMemoryForEachResult) {
  auto f = plan([](const Tensor& x) { return x + 1; });
  std::vector<Tensor> kept;
  for (int i = 0; i < 5; ++i) kept.push_back(f(Tensor::full({2}, i)));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values(kept[i]), std::vector<float>(2, i + 1.0f));
}

TEST(Plan, ReadsArgumentsThatAreViewsWhereTheyAre) {
  const Tensor big = reshape(arange(24, {DType::f32}), {6, 4});
  auto f = plan([](const Tensor& x) { return sum(transpose(x) * 2, {0}); });
  for (int i = 0; i < 5; ++i) {
    const Tensor row = slice(big, 0, i, i + 2);
    EXPECT_EQ(values(f(row)), values(sum(transpose(row) * 2, {0})));
  }
  EXPECT_EQ(f.counts().replayed, 3);
  const Tensor reversed = slice(big, 0, Slice::kOpen, Slice::kOpen, -1);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(values(f(reversed)), values(sum(transpose(reversed) * 2, {0})));
}

TEST(Plan, ReturnsTheArgumentItselfWhereTheFunctionDoes) {
  auto f = plan([](const Tensor& x) { return std::pair(x, x[0]); });
  for (int i = 0; i < 4; ++i) {
    const Tensor x = Tensor::full({2, 2}, i);
    const auto [same, row] = f(x);
    EXPECT_EQ(same.impl(), x.impl());
    x.fill(7);
    EXPECT_EQ(values(row), std::vector<float>({7, 7}));
  }
}

TEST(Plan, ReturnsACapturedTensorItself) {
  const Tensor w = numbers({1, 2});
  auto f = plan([&] {
    w += 1;
    return w;
  });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(f().impl(), w.impl());
  EXPECT_EQ(values(w), std::vector<float>({5, 6}));
  EXPECT_EQ(f.counts().replayed, 2);
}

TEST(Plan, TakesListsAndNumbersAndPlansEachAnew) {
  auto f = plan([](const std::vector<Tensor>& list, double factor) {
    std::vector<Tensor> results;
    for (const Tensor& t : list) results.push_back(t * factor);
    return results;
  });
  const std::vector<Tensor> one{numbers({1})}, two{numbers({1}), numbers({2})};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(values(f(two, 3.0)[1]), std::vector<float>({6}));
    EXPECT_EQ(values(f(two, 5.0)[1]), std::vector<float>({10}));
    EXPECT_EQ(f(one, 5.0).size(), 1u);
  }
  EXPECT_EQ(f.counts().plans, 3);
}

TEST(Plan, EachShapeHasAPlanOfItsOwn) {
  auto f = plan([](const Tensor& x) { return mean(x); });
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(f(numbers({1, 2, 3, 6})).item<float>(), 3);
    EXPECT_EQ(f(numbers({1, 3})).item<float>(), 2);
  }
  EXPECT_EQ(f.counts().plans, 2);
}

// --- constants and changes in place ---
TEST(Plan, SequencesOfChangesInPlaceStayInOrder) {
  // tests from pytorch/pytorch#94777, #198131
  const Tensor x = numbers({3});
  auto f = plan([&] {
    const Tensor y = log(x);
    x.assign(log(x));
    return y;
  });
  for (int i = 0; i < 4; ++i) {
    x.fill(3);
    EXPECT_FLOAT_EQ(f().item<float>(), 1.0986123f);
    EXPECT_FLOAT_EQ(x.item<float>(), 1.0986123f);
  }
  const Tensor d = Tensor::zeros({4}), s = arange(4, {DType::f32});
  auto g = plan([&] {
    d.assign(s);
    s += 1;
  });
  for (int i = 0; i < 5; ++i) g();
  EXPECT_EQ(values(d), std::vector<float>({4, 5, 6, 7}));
  EXPECT_EQ(values(s), std::vector<float>({5, 6, 7, 8}));
}

TEST(Plan, TensorsFilledByTheHostBeginAnewEachTime) {
  auto f = plan([](const Tensor& x) {
    const Tensor total = Tensor::full({2}, 10);
    for (int i = 0; i < 3; ++i) total += x;
    total[0].fill(0);
    return total;
  });
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(values(f(Tensor::full({2}, i))), std::vector<float>({0, 10.0f + 3 * i}));
  EXPECT_EQ(f.counts().replayed, 3);
}

TEST(Plan, AResultThatIsAConstantIsNewEachTime) {
  auto f = plan([](const Tensor&) { return Tensor::ones({2}); });
  for (int i = 0; i < 5; ++i) {
    const Tensor one = f(numbers({1}));
    EXPECT_EQ(values(one), std::vector<float>({1, 1}));
    one.fill(9);
  }
}

TEST(Plan, ChangesItsArgumentInPlace) {
  auto f = plan([](const Tensor& x) { x += 1; });
  const Tensor x = Tensor::zeros({3});
  for (int i = 0; i < 5; ++i) f(x);
  EXPECT_EQ(values(x), std::vector<float>({5, 5, 5}));
  EXPECT_EQ(f.counts().replayed, 3);
}

TEST(Plan, TwoArgumentsOnOneMemoryHaveAPlanOfTheirOwn) {
  auto f = plan([](const Tensor& a, const Tensor& b) {
    a += 1;
    return a + b;
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor a = numbers({1}), b = numbers({1});
    EXPECT_EQ(values(f(a, b)), std::vector<float>({3}));
    EXPECT_EQ(values(f(a, a)), std::vector<float>({6}));
  }
}

TEST(Plan, MayLookAtElementsThatFollowFromConstants) {
  auto f = plan([](const Tensor& x) { return x + arange(0.0, 3.0, 1.0, {DType::i64}); });
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(values(f(Tensor::full({3}, i))), std::vector<float>({i + 0.f, i + 1.f, i + 2.f}));
  EXPECT_EQ(f.counts().replayed, 3);
}

// --- randomness ---
TEST(Plan, RandomOpsDrawTheNumbersOfTheEagerSequence) {
  auto f = plan([](const Tensor& x) { return x + random_uniform({3}) * random_normal({3}); });
  const Tensor x = Tensor::ones({3});
  manual_seed(5);
  std::vector<std::vector<float>> wanted;
  for (int i = 0; i < 5; ++i)
    wanted.push_back(values(x + random_uniform({3}) * random_normal({3})));
  const RandomState after = default_random_state();
  manual_seed(5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values(f(x)), wanted[i]);
  EXPECT_EQ(f.counts().replayed, 3);
  EXPECT_EQ(default_random_state(), after);
}

TEST(Plan, DropoutUsesTheSameMaskForwardAndBackward) {
  const Tensor w = Tensor::ones({64});
  w.attach_grad();
  auto f = plan([&] {
    Tensor y;
    {
      const Record record;
      y = dropout(w, 0.5);
    }
    y.backward();
    return y;
  });
  std::vector<float> last;
  for (int i = 0; i < 6; ++i) {
    const std::vector<float> y = values(f());
    EXPECT_EQ(y, values(w.grad()));
    EXPECT_NE(y, last);
    last = y;
  }
  EXPECT_EQ(f.counts().replayed, 4);
}

// --- gradients ---
TEST(Plan, EqualLeavesKeepGradientsOfTheirOwn) {
  // tinygrad/tinygrad#9597
  const Tensor a = Tensor::scalar(3), b = Tensor::scalar(3);
  a.attach_grad();
  b.attach_grad();
  auto f = plan([&] {
    Tensor loss;
    {
      const Record record;
      loss = 2 * a + 5 * b;
    }
    loss.backward();
    const Pause pause;
    a -= 0.1 * a.grad();
    b -= 0.1 * b.grad();
    return loss;
  });
  EXPECT_FLOAT_EQ(f().item<float>(), 21);
  EXPECT_FLOAT_EQ(f().item<float>(), 18.1f);
  f();
  f();
  EXPECT_FLOAT_EQ(a.item<float>(), 2.2f);
  EXPECT_FLOAT_EQ(b.item<float>(), 1.0f);
}

TEST(Plan, AddsToGradientsWhereTheLeafAsksForIt) {
  const Tensor w = numbers({1, 2});
  w.attach_grad(GradReq::add);
  auto f = plan([&](const Tensor& x) { backward_of_product(w, x); });
  for (int i = 0; i < 6; ++i) f(numbers({1, 10}));
  EXPECT_EQ(values(w.grad()), std::vector<float>({6, 60}));
  EXPECT_GE(f.counts().replayed, 3);
}

TEST(Plan, AGradientThatIsKeptStaysWhatItWas) {
  const Tensor w = numbers({1});
  w.attach_grad();
  auto f = plan([&](const Tensor& x) { backward_of_product(w, x); });
  std::vector<Tensor> kept;
  for (int i = 0; i < 6; ++i) {
    f(numbers({static_cast<float>(i)}));
    kept.push_back(w.grad().detach());  // shares the memory
  }
  for (int i = 0; i < 6; ++i) EXPECT_EQ(kept[i].item<float>(), i);
}

TEST(Plan, TheLastGradientMayBeAnArgument) {
  const Tensor w = numbers({2, 3}), v = numbers({2, 3});
  w.attach_grad();
  v.attach_grad();
  const auto step = [](const Tensor& leaf, const Tensor& x) {
    Tensor loss;
    {
      const Record record;
      loss = sum(leaf * leaf * x);
    }
    loss.backward();
    return loss + x;  // read after the gradient was written
  };
  auto f = plan([&](const Tensor& x) { return step(w, x); });
  f(Tensor::ones({2}));
  step(v, Tensor::ones({2}));
  for (int i = 0; i < 6; ++i) {
    const Tensor got = f(w.grad().detach() * 1), wanted = step(v, v.grad().detach() * 1);
    EXPECT_EQ(values(got), values(wanted));
  }
  for (int i = 0; i < 6; ++i) {
    const Tensor got = f(w.grad().detach()), wanted = step(v, v.grad().detach());
    EXPECT_EQ(values(got), values(wanted)) << i;
    EXPECT_EQ(values(w.grad()), values(v.grad())) << i;
  }
  for (int i = 0; i < 6; ++i) {
    const Tensor got = f(w.grad()), wanted = step(v, v.grad());
    EXPECT_EQ(values(got), values(wanted)) << i;
    EXPECT_EQ(values(w.grad()), values(v.grad())) << i;
  }
}

TEST(Plan, TwoSignaturesShareALeafsGradient) {
  const Tensor w = numbers({2});
  w.attach_grad();
  auto f = plan([&](const Tensor& x) { backward_of_product(w, x); });
  for (int i = 1; i < 8; ++i) {
    f(Tensor::full({2}, i));
    EXPECT_EQ(w.grad().item<float>(), 2 * i);
    f(Tensor::full({3}, i));
    EXPECT_EQ(w.grad().item<float>(), 3 * i);
  }
  EXPECT_EQ(f.counts().plans, 2);
}

TEST(Plan, PlansAnewWhenAParameterIsFrozen) {
  const Tensor w = numbers({2}), v = numbers({3});
  w.attach_grad();
  v.attach_grad();
  auto f = plan([&](const Tensor& x) {
    Tensor loss;
    {
      const Record record;
      loss = sum(w * x + v);
    }
    loss.backward();
  });
  for (int i = 0; i < 4; ++i) f(numbers({1}));
  v.attach_grad(GradReq::null);
  for (int i = 0; i < 4; ++i) f(numbers({5}));
  EXPECT_EQ(w.grad().item<float>(), 5);
  EXPECT_EQ(f.counts().plans, 2);
}

TEST(Plan, RunsAsItIsInsideARecordScope) {
  const Tensor w = numbers({2});
  w.attach_grad();
  auto f = plan([&](const Tensor& x) { return w * x; });
  for (int i = 0; i < 4; ++i) f(numbers({1}));
  Tensor y;
  {
    const Record record;
    y = f(numbers({5}));
  }
  y.backward();
  EXPECT_EQ(w.grad().item<float>(), 5);
  EXPECT_NE(f.explain().find("inside a Record scope"), std::string::npos);
}

// --- what cannot be planned ---
TEST(Plan, AFunctionThatLooksAtElementsRunsEagerlyAndSaysSo) {
  auto f = plan([](const Tensor& x) { return x.item<float>() > 0 ? x * 2 : x * 3; });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(f(numbers({1})).item<float>(), 2);
    EXPECT_EQ(f(numbers({-1})).item<float>(), -3);
  }
  EXPECT_EQ(f.counts().replayed, 0);
  EXPECT_NE(f.explain().find("the host looks at the elements"), std::string::npos) << f.explain();
}

TEST(Plan, WhatCouldNotBePlannedIsLookedAtAgainLater) {
  bool looks = true;
  auto f = plan([&](const Tensor& x) {
    if (looks) x.item<float>();
    return x * 2;
  });
  for (int i = 0; i < 20; ++i) f(numbers({1}));
  looks = false;
  for (int i = 0; i < 5000; ++i) f(numbers({1}));
  EXPECT_GT(f.counts().replayed, 500);
  looks = true;
  invalidate_plans();
  for (int i = 0; i < 20; ++i) f(numbers({1}));
  looks = false;
  invalidate_plans();
  f(numbers({1}));
  f(numbers({1}));
  const int64_t before = f.counts().replayed;
  f(numbers({1}));
  EXPECT_EQ(f.counts().replayed, before + 1);
}

TEST(Plan, ShapesThatDependOnElementsRunEagerly) {
  auto f = plan([](const Tensor& x) { return x[x > 0]; });
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(f(numbers({1, -1, 2})).size(), 2);
    EXPECT_EQ(f(numbers({1, -1, -2})).size(), 1);
  }
  EXPECT_EQ(f.counts().replayed, 0);
}

TEST(Plan, NumbersThatTheHostChangesRunEagerly) {
  double rate = 1;
  auto f = plan([&](const Tensor& x) { return x * rate; });
  for (int i = 0; i < 10; ++i, rate += 1) EXPECT_EQ(f(numbers({2})).item<float>(), 2 * rate);
  EXPECT_NE(f.explain().find("the host puts other numbers"), std::string::npos) << f.explain();
}

TEST(Plan, AStateCarriedInACapturedTensorRunsEagerly) {
  Tensor h = numbers({1});
  auto f = plan([&](const Tensor& x) {
    h = h + x;
    return h * 2;
  });
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(f(numbers({1})).item<float>(), 2 * (1 + i));
  EXPECT_EQ(f.counts().replayed, 0);
}

TEST(Plan, ATensorThatIsKeptOutsideRunsEagerly) {
  std::vector<Tensor> log;
  auto f = plan([&](const Tensor& x) {
    const Tensor y = x * 2;
    log.push_back(y);
    return y + 1;
  });
  for (int i = 0; i < 9; ++i) f(numbers({static_cast<float>(i)}));
  ASSERT_EQ(log.size(), 9u);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(log[i].item<float>(), 2 * i);
}

TEST(Plan, AResultThatIsKeptOutsideRunsEagerly) {
  std::vector<Tensor> log;
  auto f = plan([&](const Tensor& x) {
    log.push_back(x * 2);
    return log.back();
  });
  for (int i = 0; i < 9; ++i) f(numbers({static_cast<float>(i)}));
  ASSERT_EQ(log.size(), 9u);
}

TEST(Plan, PlansAnewWhenACapturedTensorIsReplaced) {
  auto w = std::make_unique<Tensor>(numbers({2}));
  auto f = plan([&](const Tensor& x) { return *w * x; });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(f(numbers({1})).item<float>(), 2);
  *w = numbers({5});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(f(numbers({1})).item<float>(), 5);
  EXPECT_EQ(f.counts().plans, 2);
}

TEST(Plan, HostNumbersReadFromTheShapeBelongToTheSignature) {
  auto f = plan([](const Tensor& x) { return sum(x) / static_cast<double>(x.size()); });
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(f(numbers({1, 2, 3, 6})).item<float>(), 3);
    EXPECT_EQ(f(numbers({1, 3})).item<float>(), 2);
  }
}

TEST(Plan, AnArgumentThatIsACapturedTensorToo) {
  const Tensor w = numbers({2});
  auto f = plan([&](const Tensor& x) {
    w += 1;
    return w * x;
  });
  for (int i = 0; i < 4; ++i) f(numbers({1}));
  EXPECT_EQ(w.item<float>(), 6);
  EXPECT_EQ(f(w).item<float>(), 49);
  EXPECT_EQ(f(w).item<float>(), 64);
  EXPECT_EQ(f(w).item<float>(), 81);
}

// --- looking for faults ---
TEST(PlanCheck, AgreesWithAFunctionThatDoesTheSameEachTime) {
  const Tensor w = Tensor::ones({3});
  w.attach_grad();
  auto f = plan(
      [&](const Tensor& x) {
        Tensor loss;
        {
          const Record record;
          loss = sum(tanh(dropout(w * x, 0.5)) * tanh(w));
        }
        loss.backward();
        const Pause pause;
        w -= w.grad() * 0.25;
        x += 1;
        return loss;
      },
      {.check = true});
  const ModeScope mode(Mode::training);
  for (int i = 0; i < 6; ++i) EXPECT_NO_THROW(f(Tensor::full({3}, i)));
  EXPECT_GE(f.counts().replayed, 3);
}

TEST(PlanCheck, NamesWhatAFunctionDoesOtherwiseLater) {
  int calls = 0;
  auto f = plan([&](const Tensor& x) { return ++calls > 3 ? x * 2 : x * 3; }, {.check = true});
  for (int i = 0; i < 3; ++i) f(numbers({1}));
  try {
    f(numbers({1}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_NE(std::string(error.what()).find("the host puts other numbers"), std::string::npos)
        << error.what();
  }
}

TEST(Plan, NoticesWithinAThousandCallsThatACapturedNumberHasChanged) {
  double factor = 2;
  auto f = plan([&](const Tensor& x) { return x * factor; });
  for (int i = 0; i < 100; ++i) f(numbers({1}));
  factor = 3;
  for (int i = 0; i < 1100; ++i) f(numbers({1}));
  EXPECT_EQ(f(numbers({1})).item<float>(), 3);
  EXPECT_EQ(f.counts().plans, 2);
}

// --- errors ---
TEST(Plan, GivesTheErrorOfTheEagerCall) {
  const Tensor w = Tensor::ones({4, 3});
  auto f = plan([&](const Tensor& x) { return linear(x, w); });
  for (int i = 0; i < 4; ++i) f(Tensor::ones({2, 3}));
  std::string eager, planned;
  try {
    linear(Tensor::ones({2, 5}), w);
  } catch (const Error& e) {
    eager = e.what();
  }
  for (int i = 0; i < 3; ++i) {
    try {
      f(Tensor::ones({2, 5}));
    } catch (const Error& e) {
      planned = e.what();
    }
    EXPECT_EQ(planned, eager);
  }
  EXPECT_EQ(f(Tensor::ones({2, 3})).size(), 8);
}

TEST(Plan, AnIndexOutOfRangeInAReplayIsTheSameErrorAndTheNextCallIsRight) {
  const Tensor table = reshape(arange(6, {DType::f32}), {3, 2});
  auto f = plan([&](const Tensor& i) { return take(table, i, 0) + 1; });
  for (int i = 0; i < 4; ++i) f(Tensor::of<int64_t>({0, 2}));
  EXPECT_THROW(f(Tensor::of<int64_t>({0, 3})), Error);
  EXPECT_EQ(values(f(Tensor::of<int64_t>({1}))), std::vector<float>({3, 4}));
  EXPECT_EQ(values(f(Tensor::of<int64_t>({1, 0}))), std::vector<float>({3, 4, 1, 2}));
}

TEST(Plan, AnExceptionOfTheFunctionLeavesThePlannerUsable) {
  bool fail = true;
  auto f = plan([&](const Tensor& x) {
    const Tensor y = x + 1;
    if (fail) throw std::runtime_error("stop");
    return y;
  });
  EXPECT_THROW(f(numbers({1})), std::runtime_error);
  fail = false;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(f(numbers({1})).item<float>(), 2);
  EXPECT_EQ(f.counts().replayed, 2);
}

TEST(Plan, APlannedFunctionInsideAnotherIsPartOfIt) {
  auto inner = plan([](const Tensor& x) { return x * 2; });
  auto outer = plan([&](const Tensor& x) { return inner(x) + 1; });
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(outer(numbers({static_cast<float>(i)})).item<float>(), 2 * i + 1);
  EXPECT_EQ(outer.counts().replayed, 4);
}

TEST(Plan, IsDrawnAsItsRecords) {
  const Tensor w = Tensor::ones({3, 2});
  auto f = plan([&](const Tensor& x) { return sum(tanh(matmul(x, w)), {0}); });
  const auto draw = [&] { return f.diagram(); };
  EXPECT_THROW(draw(), Error);
  for (int i = 0; i < 4; ++i) f(Tensor::full({5, 3}, i));
  const Diagram d = draw();
  std::string labels, edges;
  for (const DiagramNode& node : d.nodes) labels += node.label + ";";
  for (const DiagramEdge& edge : d.edges) edges += edge.label + ";";
  EXPECT_EQ(labels, "argument 0;matmul;tanh;sum;result 0;");
  EXPECT_EQ(edges, "5 x 3;5 x 2;5 x 2;2;");
  EXPECT_EQ(d.nodes[1].kind, "dense");
  EXPECT_EQ(d.nodes[2].kind, "activation");
}

}  // namespace
}  // namespace thalweg
