// A planned function that changes: a verified call has the results of the eager one.

#include <stdexcept>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "graph/small_tensors.h"
#include "graph/verify_pace.h"

namespace thalweg {
namespace {

constexpr PlanOptions kVerify{.verify = true};

// --- as planned ---
TEST(VerifiedCall, GivesTheResultsOfThePlan) {
  const Tensor w = numbers({1, 2, 3});
  w.attach_grad();
  int runs = 0;
  auto f = plan(
      [&](const Tensor& x) {
        ++runs;
        Tensor loss;
        {
          const Record record;
          loss = sum(tanh(w * x) * w);
        }
        loss.backward();
        return std::pair(loss, x);
      },
      kVerify);
  for (int i = 0; i < 40; ++i) {
    const Tensor x = Tensor::full({3}, 0.1 * i), v = numbers({1, 2, 3});
    v.attach_grad();
    const auto [loss, same] = f(x);
    Tensor wanted;
    {
      const Record record;
      wanted = sum(tanh(v * x) * v);
    }
    wanted.backward();
    EXPECT_EQ(values(loss), values(wanted));
    EXPECT_EQ(values(w.grad()), values(v.grad()));
    EXPECT_EQ(same.impl(), x.impl());
  }
  EXPECT_EQ(runs, 40);
  EXPECT_EQ(f.counts().plans, 1);
  EXPECT_EQ(f.counts().verified, f.counts().replayed);
  EXPECT_NE(f.explain().find("each call is verified"), std::string::npos) << f.explain();
}

TEST(VerifiedCall, CountsVersionsAsTheEagerCallDoes) {
  const Tensor w = Tensor::ones({2}), v = Tensor::ones({2});
  const auto body = [](const Tensor& t, const Tensor& x) {
    t += x;
    x *= 2;
    t *= x;
  };
  auto f = plan([&](const Tensor& x) { body(w, x); }, kVerify);
  for (int i = 0; i < 10; ++i) {
    const Tensor x = Tensor::full({2}, i), y = Tensor::full({2}, i);
    f(x);
    body(v, y);
    EXPECT_EQ(values(w), values(v));
    EXPECT_EQ(values(x), values(y));
    EXPECT_EQ(w.impl()->storage->version(), v.impl()->storage->version());
    EXPECT_EQ(x.impl()->storage->version(), y.impl()->storage->version());
  }
  EXPECT_EQ(f.counts().verified, 8);
}

TEST(VerifiedCall, MayLookAtElementsThatFollowFromConstants) {
  auto f = plan(
      [](const Tensor& x) {
        const Tensor total = Tensor::full({3}, 2);
        total += arange(0.0, 3.0, 1.0, {DType::f32});
        return x * static_cast<double>(sum(total).item<float>());
      },
      kVerify);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(values(f(Tensor::full({3}, i))), std::vector<float>(3, 9.0f * i));
  EXPECT_EQ(f.counts().verified, 6);
}

TEST(VerifiedCall, AddsToGradientsWhereTheLeafAsksForIt) {
  const Tensor w = numbers({1, 2});
  w.attach_grad(GradReq::add);
  auto f = plan([&](const Tensor& x) { backward_of_product(w, x); }, kVerify);
  for (int i = 0; i < 9; ++i) f(numbers({1, 10}));
  EXPECT_EQ(values(w.grad()), std::vector<float>({9, 90}));
  EXPECT_GE(f.counts().verified, 5);
}

TEST(VerifiedCall, HeldGradientsStayWhatTheyWere) {
  const Tensor w = numbers({1});
  w.attach_grad();
  auto f = plan([&](const Tensor& x) { backward_of_product(w, x); }, kVerify);
  std::vector<Tensor> kept;
  for (int i = 0; i < 8; ++i) {
    f(numbers({static_cast<float>(i)}));
    kept.push_back(w.grad().detach());  // shares the memory
  }
  for (int i = 0; i < 8; ++i) EXPECT_EQ(kept[i].item<float>(), i);
  EXPECT_GE(f.counts().verified, 5);
}

TEST(VerifiedCall, RandomOpsDrawTheNumbersOfTheEagerSequence) {
  bool more = false;
  const auto body = [&](const Tensor& x) {
    const Tensor y = dropout(x, 0.5) + random_uniform({64});
    return more ? y * random_normal({64}) : y;
  };
  auto f = plan(body, kVerify);
  const ModeScope mode(Mode::training);
  const Tensor x = Tensor::ones({64});
  std::vector<std::vector<float>> wanted;
  for (const bool planned : {false, true}) {
    manual_seed(5);
    for (int i = 0; i < 24; ++i) {
      more = i % 12 > 8;
      const std::vector<float> got = values(planned ? f(x) : body(x));
      if (planned)
        EXPECT_EQ(got, wanted[i]) << i;
      else
        wanted.push_back(got);
    }
    wanted.push_back(values(random_uniform({4})));
  }
  EXPECT_EQ(wanted[24], wanted[25]);
  EXPECT_GE(f.counts().verified, 6);
}

TEST(VerifiedCall, APlannedFunctionInsideAnotherIsPartOfIt) {
  double factor = 2;
  auto inner = plan([&](const Tensor& x) { return x * factor; }, kVerify);
  auto outer = plan([&](const Tensor& x) { return inner(x) + 1; }, kVerify);
  for (int i = 0; i < 12; ++i) {
    factor = i < 7 ? 2 : 3;
    EXPECT_EQ(outer(numbers({5})).item<float>(), 5 * factor + 1);
  }
}

// --- something else ---
TEST(VerifiedCall, ACapturedNumberCountsAtTheCallAtWhichItChanged) {
  for (int change = 2; change < 20; ++change) {
    double factor = 2;
    auto f = plan([&](const Tensor& x) { return tanh(x) * factor + 1; }, kVerify);
    for (int i = 0; i < 25; ++i) {
      if (i == change) factor = 3;
      const Tensor x = Tensor::full({2}, i);
      EXPECT_EQ(values(f(x)), values(tanh(x) * factor + 1)) << change << " " << i;
    }
  }
}

TEST(VerifiedCall, TheFirstSixteenReplaysAreVerifiedWithoutBeingAsked) {
  double factor = 2;
  auto f = plan([&](const Tensor& x) { return x * factor; });
  for (int i = 0; i < 18; ++i) f(numbers({1}));
  EXPECT_EQ(f.counts().verified, 16);
  for (int i = 2; i < 18; ++i) {
    auto g = plan([&](const Tensor& x) { return x * factor; });
    factor = 2;
    for (int k = 0; k < i; ++k) g(numbers({1}));
    factor = 3;
    EXPECT_EQ(g(numbers({1})).item<float>(), 3) << i;
  }
}

TEST(VerifiedCall, ACapturedHandleThatIsSetToAnotherTensorIsSeen) {
  const Tensor a = numbers({2}), b = numbers({5});
  Tensor w = a;
  auto f = plan([&](const Tensor& x) { return w * x; }, kVerify);
  for (int i = 0; i < 16; ++i) {
    w = i / 5 % 2 ? b : a;
    EXPECT_EQ(f(numbers({3})).item<float>(), 3 * w.item<float>()) << i;
  }
}

TEST(VerifiedCall, ABranchOnACapturedFlagIsSeen) {
  bool turn = false;
  const Tensor w = numbers({1, 4});
  w.attach_grad();
  auto f = plan(
      [&](const Tensor& x) {
        Tensor loss;
        {
          const Record record;
          const Tensor y = w * x;
          loss = turn ? sum(y * y) : sum(y);
        }
        loss.backward();
        return loss;
      },
      kVerify);
  for (int i = 0; i < 20; ++i) {
    turn = i / 6 % 2;
    EXPECT_EQ(f(numbers({3, 2})).item<float>(), turn ? 73 : 11);
    EXPECT_EQ(values(w.grad()), turn ? std::vector<float>({18, 32}) : std::vector<float>({3, 2}));
  }
}

TEST(VerifiedCall, LooksAtElementsThatWerePutOff) {
  bool looks = false;
  float seen = 0;
  auto f = plan(
      [&](const Tensor& x) {
        const Tensor y = x * 3;
        const Tensor z = tanh(y);  // gone when the host looks
        Tensor sum = z + y;
        if (looks) seen = y.item<float>();
        return sum * 2;
      },
      kVerify);
  for (int i = 0; i < 10; ++i) {
    looks = i == 7;
    const Tensor x = numbers({static_cast<float>(i)});
    EXPECT_EQ(values(f(x)), values((tanh(x * 3) + x * 3) * 2));
  }
  EXPECT_EQ(seen, 21);
}

TEST(VerifiedCall, ATensorThatIsKeptOutsideHasItsElements) {
  std::vector<Tensor> log;
  bool keeps = false;
  auto f = plan(
      [&](const Tensor& x) {
        const Tensor y = x * 2;
        if (keeps) log.push_back(y);
        return y + 1;
      },
      kVerify);
  for (int i = 0; i < 12; ++i) {
    keeps = i == 5 || i == 11;
    EXPECT_EQ(f(numbers({static_cast<float>(i)})).item<float>(), 2 * i + 1);
  }
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].item<float>(), 10);
  EXPECT_EQ(log[1].item<float>(), 22);
}

TEST(VerifiedCall, AResultOrGradientThatIsKeptOutsideHasItsElements) {
  const Tensor w = numbers({1});
  w.attach_grad();
  std::vector<Tensor> log;
  bool keeps = false;
  auto f = plan(
      [&](const Tensor& x) {
        backward_of_product(w, x);
        const Tensor y = x * 2;
        if (keeps) log = {y, w.grad().detach()};
        return y;
      },
      kVerify);
  for (int i = 0; i < 9; ++i) {
    keeps = i == 5;
    const Tensor y = f(numbers({static_cast<float>(i)}));
    EXPECT_EQ(y.item<float>(), 2 * i);
    EXPECT_EQ(w.grad().item<float>(), i);
  }
  EXPECT_EQ(log[0].item<float>(), 10);
  EXPECT_EQ(log[1].item<float>(), 5);
}

TEST(VerifiedCall, WhatRanBeforeAnExceptionHasHappened) {
  bool fail = false;
  const Tensor w = numbers({1}), v = numbers({0});
  v.attach_grad();
  auto f = plan(
      [&](const Tensor& x) {
        w += x;
        backward_of_product(v, w * 2);
        if (fail) throw std::runtime_error("stop");
        w *= 2;
        return w * x;
      },
      kVerify);
  float expected = 1;
  for (int i = 0; i < 12; ++i) {
    fail = i == 6;
    expected += 1;
    if (fail) {
      EXPECT_THROW(f(numbers({1})), std::runtime_error);
    } else {
      EXPECT_EQ(f(numbers({1})).item<float>(), expected * 2);
    }
    EXPECT_EQ(v.grad().item<float>(), expected * 2);
    expected *= fail ? 1 : 2;
    EXPECT_EQ(w.item<float>(), expected);
  }
  EXPECT_EQ(f.counts().plans, 1);
}

TEST(VerifiedCall, AnErrorThatAKernelFindsLeavesGradientsAsTheyWere) {
  const Tensor table = reshape(arange(6, {DType::f32}), {3, 2}), w = numbers({1, 1});
  w.attach_grad();
  auto f = plan(
      [&](const Tensor& i) {
        const Tensor rows = take(table, i, 0);
        backward_of_product(w, sum(rows, {0}));
        return rows;
      },
      kVerify);
  for (int i = 0; i < 4; ++i) f(Tensor::of<int64_t>({0, 2}));
  EXPECT_EQ(values(w.grad()), std::vector<float>({4, 6}));
  EXPECT_THROW(f(Tensor::of<int64_t>({0, 3})), Error);
  EXPECT_EQ(values(w.grad()), std::vector<float>({4, 6}));
  EXPECT_EQ(values(f(Tensor::of<int64_t>({1, 1}))), std::vector<float>({2, 3, 2, 3}));
  EXPECT_EQ(values(w.grad()), std::vector<float>({4, 6}));
}

TEST(VerifiedCall, ALeafThatIsFrozenOrUnfrozenIsSeen) {
  const Tensor w = numbers({2}), v = numbers({3});
  w.attach_grad();
  v.attach_grad();
  auto f = plan(
      [&](const Tensor& x) {
        Tensor loss;
        {
          const Record record;
          loss = sum(w * x + v * v);
        }
        loss.backward();
      },
      kVerify);
  for (int i = 0; i < 18; ++i) {
    if (i % 6 == 0) v.attach_grad(i == 6 ? GradReq::null : GradReq::write);
    f(numbers({static_cast<float>(i)}));
    EXPECT_EQ(w.grad().item<float>(), i);
    if (i >= 6 && i < 12) continue;
    EXPECT_EQ(v.grad().item<float>(), 6);
  }
}

TEST(VerifiedCall, TheSeedThatTheFunctionSetsIsSeen) {
  bool seeds = false;
  auto f = plan(
      [&] {
        if (seeds) manual_seed(3);
        return random_uniform({4});
      },
      kVerify);
  for (int i = 0; i < 5; ++i) f();
  seeds = true;
  const std::vector<float> a = values(f());
  f();
  EXPECT_EQ(values(f()), a);
  manual_seed(3);
  EXPECT_EQ(values(random_uniform({4})), a);
}

TEST(VerifiedCall, AFunctionThatKeepsChangingRunsEagerlyInTheEnd) {
  double factor = 1;
  auto f = plan([&](const Tensor& x) { return x * factor; }, kVerify);
  for (int i = 0; i < 120; ++i) {
    factor = 1 + i / 4;
    EXPECT_EQ(f(numbers({1})).item<float>(), factor);
  }
  EXPECT_LE(f.counts().plans, 9);
  EXPECT_GT(f.counts().eager, 50);
}

// --- how often ---
TEST(VerifyPace, VerifiesEachCallWhereTheCodeTakesTwoPartsInAHundred) {
  VerifyPace pace;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(pace.due());
    pace.took(1e-3, 2e-5);
  }
  EXPECT_EQ(pace.interval(), 1);
}

TEST(VerifyPace, VerifiesSmallStepsAfterTheFirstAsOftenAsCostsTwoPartsInAHundred) {
  VerifyPace pace;
  int verified = 0;
  for (int i = 0; i < 16 + 10 * 150; ++i) {
    if (!pace.due()) continue;
    ++verified;
    pace.took(1e-6, 3e-6);
  }
  EXPECT_EQ(pace.interval(), 150);
  EXPECT_EQ(verified, 16 + 10);
}

TEST(VerifyPace, VerifiesOneCallInAThousandHoweverSmall) {
  VerifyPace pace;
  for (int i = 0; i < 16; ++i) pace.took(1e-9, 1);
  EXPECT_EQ(pace.interval(), VerifyPace::kMost);
  for (int i = 0; i < 1023; ++i) EXPECT_FALSE(pace.due());
  EXPECT_TRUE(pace.due());
}

}  // namespace
}  // namespace thalweg
