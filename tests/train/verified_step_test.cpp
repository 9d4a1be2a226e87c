// Training steps whose function changes, beside an eager twin: parameters, gradients, trainers and
// random numbers are those of the twin after each step.

#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/train/checkpoint.h>
#include <thalweg/train/trainer.h>

namespace thalweg::train {
namespace {

using Bits = std::vector<uint32_t>;

Bits bits(const std::vector<float>& list) {
  Bits result;
  for (const float f : list) result.push_back(std::bit_cast<uint32_t>(f));
  return result;
}
Bits bits(const Tensor& t) { return bits(t.to_vector<float>()); }

/// What a step does, all of it captured.
struct Turns {
  double factor = 1;
  bool squares = false;
  bool looks = false;
  bool keeps = false;
  bool stops = false;
  bool draws = false;
  bool seeds = false;
  int updates = 1;       // of the first net's trainer
  bool second = false;   // the other net learns too
  bool swapped = false;  // the nets change places
  int64_t batch_size = 4;

  friend bool operator==(const Turns&, const Turns&) = default;
};

/// Two nets with a trainer each.
class Twin {
 public:
  explicit Twin(const TrainerOptions& options) {
    for (size_t i = 0; i < 2; ++i) {
      nets_[i] = nn::Sequential{nn::Dense(6), nn::BatchNorm(), nn::Activation(nn::tanh),
                                nn::Dropout(0.2), nn::Dense(3)};
      nets_[i].initialize(init::xavier(), {.seed = 5 + i});
      nets_[i](Tensor::ones({4, 5}));
      trainers_[i].emplace(nets_[i].parameters(), optim::Adam({.learning_rate = 0.02}), options);
    }
  }

  Tensor step(const Tensor& x, const Tensor& label, const Turns& t) {
    nn::Sequential& net = nets_[t.swapped];
    Trainer& trainer = *trainers_[t.swapped];
    if (t.seeds) manual_seed(9);
    Tensor loss;
    for (int i = 0; i < t.updates; ++i) {
      {
        const Record record;
        loss = softmax_cross_entropy(net(x) * t.factor, label);
        if (t.squares) loss = loss * loss;
      }
      loss.backward();
      if (t.looks) seen_ += sum(loss).item<float>();
      if (t.stops) throw std::runtime_error("stop");
      trainer.step(t.batch_size);
    }
    if (t.second) {
      Tensor other;
      {
        const Record record;
        other = sum(nets_[!t.swapped](x) * net(x));
      }
      other.backward();
      trainers_[!t.swapped]->step(t.batch_size);
      loss = loss + other;
    }
    const Tensor doubled = loss * 2;
    if (t.keeps) kept_ = doubled;
    return t.draws ? doubled + random_uniform(doubled.shape()) : doubled + loss;
  }

  std::vector<Bits> state() {
    std::vector<Bits> all;
    for (size_t i = 0; i < 2; ++i) {
      for (const nn::NamedParameter& item : nets_[i].parameters()) {
        all.push_back(bits(item.parameter.data()));
        if (item.parameter.grad_req() != GradReq::null) all.push_back(bits(item.parameter.grad()));
      }
      all.push_back(bits({static_cast<float>(trainers_[i]->steps()),
                          static_cast<float>(trainers_[i]->skipped()),
                          static_cast<float>(trainers_[i]->gradient_norm())}));
      Checkpoint checkpoint;
      trainers_[i]->save(checkpoint);
      for (const nn::NamedParameter& item : nets_[i].parameters()) {
        if (item.parameter.grad_req() == GradReq::null || trainers_[i]->steps() == 0) continue;
        all.push_back(bits(checkpoint.tensor("trainer/square_mean/" + item.name)));
      }
    }
    all.push_back(bits({seen_}));
    if (kept_.defined()) all.push_back(bits(kept_));
    return all;
  }

  nn::Sequential& net(size_t i) { return nets_[i]; }

 private:
  std::array<nn::Sequential, 2> nets_;
  std::array<std::optional<Trainer>, 2> trainers_;
  float seen_ = 0;
  Tensor kept_;
};

/// An eager and a planned twin that do the same.
class Pair {
 public:
  explicit Pair(const PlanOptions& plan_options = {.verify = true},
                const TrainerOptions& options = {})
      : eager_(options), planned_(options), step_(planned_step(plan_options)) {}

  /// Both take one step; all that stays is the same.
  void step(const Turns& turns, int number, double scale = 1) {
    turns_ = turns;
    manual_seed(1000 + static_cast<uint64_t>(number));
    const Tensor x = random_normal({4, 5}) * scale, label = random_integers({4}, 0, 3);
    const auto [wanted, wanted_random] = run([&] { return eager_.step(x, label, turns); }, number);
    const auto [got, random] = run([&] { return step_(x, label); }, number);
    ASSERT_EQ(got, wanted) << step_.explain();
    ASSERT_EQ(random, wanted_random);
    ASSERT_EQ(planned_.state(), eager_.state()) << step_.explain();
  }
  PlanCounts counts() const { return step_.counts(); }
  std::string explain() const { return step_.explain(); }
  Twin& eager() { return eager_; }
  Twin& planned() { return planned_; }

 private:
  using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

  Planned<Function> planned_step(const PlanOptions& options) {
    return plan(Function([this](const Tensor& x, const Tensor& label) {
                  return planned_.step(x, label, turns_);
                }),
                options);
  }
  template <typename F>
  static std::pair<Bits, RandomState> run(F&& f, int number) {
    manual_seed(static_cast<uint64_t>(number));
    Bits result;
    try {
      result = bits(f());
    } catch (const std::exception& error) {
      for (const char c : std::string(error.what())) result.push_back(static_cast<uint32_t>(c));
    }
    return {result, default_random_state()};
  }

  Turns turns_;
  Twin eager_, planned_;
  Planned<Function> step_;
};

void take_steps(Pair& pair, const Turns& turns, int& number, int count) {
  for (int i = 0; i < count; ++i) ASSERT_NO_FATAL_FAILURE(pair.step(turns, number++));
}

TEST(VerifiedStep, GoesOnAsTheEagerOneWhateverChanges) {
  const std::pair<const char*, std::function<void(Turns&)>> changes[] = {
      {"a number", [](Turns& t) { t.factor = 2; }},
      {"a branch", [](Turns& t) { t.squares = true; }},
      {"the host looks", [](Turns& t) { t.looks = true; }},
      {"a tensor is kept", [](Turns& t) { t.keeps = true; }},
      {"an exception", [](Turns& t) { t.stops = true; }},
      {"random numbers", [](Turns& t) { t.draws = true; }},
      {"the seed", [](Turns& t) { t.seeds = true; }},
      {"two updates", [](Turns& t) { t.updates = 2; }},
      {"no update", [](Turns& t) { t.second = true, t.updates = 1; }},
      {"another net", [](Turns& t) { t.swapped = true; }},
      {"another batch size", [](Turns& t) { t.batch_size = 8; }},
  };
  const ModeScope mode(Mode::training);
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    Pair pair;
    int number = 0;
    Turns turns;
    take_steps(pair, turns, number, 6);
    EXPECT_GE(pair.counts().verified, 2) << pair.explain();
    change(turns);
    take_steps(pair, turns, number, 6);
    take_steps(pair, Turns(), number, 6);
  }
}

TEST(VerifiedStep, ReplaysOneTrainersStep) {
  Pair pair;
  int number = 0;
  take_steps(pair, {}, number, 20);
  EXPECT_EQ(pair.counts().plans, 1) << pair.explain();
  EXPECT_GE(pair.counts().verified, 15);
}

TEST(VerifiedStep, ReplaysTwoTrainersAndTwoStepsOfOne) {
  for (const Turns turns : {Turns{.second = true}, Turns{.updates = 2}}) {
    Pair pair;
    int number = 0;
    take_steps(pair, turns, number, 12);
    EXPECT_EQ(pair.counts().plans, 1) << pair.explain();
    EXPECT_GE(pair.counts().verified, 6);
    Turns other = turns;
    other.looks = true;
    take_steps(pair, other, number, 1);
    other = turns;
    other.keeps = true;
    take_steps(pair, other, number, 1);
    take_steps(pair, turns, number, 4);
  }
}

TEST(VerifiedStep, TheNormOfTheGradientsIsKnownWhenTheHostNeedsIt) {
  Pair pair({.verify = true}, {.clip_norm = 0.1, .non_finite = NonFinite::skip});
  int number = 0;
  take_steps(pair, {}, number, 10);
  EXPECT_GE(pair.counts().verified, 5) << pair.explain();
  pair.step({}, number++, std::numeric_limits<double>::infinity());
  take_steps(pair, {}, number, 4);
  EXPECT_EQ(pair.counts().plans, 1) << pair.explain();
  take_steps(pair, {.looks = true}, number, 1);
  take_steps(pair, {}, number, 4);
}

TEST(VerifiedStep, HooksThatAreAddedLaterAreCalled) {
  Pair pair;
  int number = 0, calls = 0;
  take_steps(pair, {}, number, 6);
  {
    const nn::HookHandle hook = pair.planned().net(0).add_hook(
        [&](nn::Module&, std::span<const Tensor>, Tensor&) { ++calls; });
    take_steps(pair, {}, number, 3);
    EXPECT_EQ(calls, 3);
  }
  take_steps(pair, {}, number, 6);
}

TEST(VerifiedStep, ParametersThatAreFrozenAndUnfrozenAreSeen) {
  Pair pair;
  int number = 0;
  for (int i = 0; i < 4; ++i) {
    take_steps(pair, {}, number, 5);
    for (Twin* twin : {&pair.eager(), &pair.planned()}) {
      const nn::ParameterList list = twin->net(0).parameters("^0");
      i % 2 ? list.set_grad_req(GradReq::write) : list.freeze();
    }
  }
}

// A random walk: mostly as before, sometimes something changes for one step or for good.
TEST(VerifiedStep, RandomSequencesOfChangesKeepTheBitsOfTheEagerTwin) {
  const ModeScope mode(Mode::training);
  int64_t verified = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    uint64_t state = seed * 0x9e3779b97f4a7c15u;
    const auto below = [&](uint64_t n) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return state % n;
    };
    const auto change = [&](Turns& t) {
      switch (below(10)) {
        case 0:
          t.factor = 1 + static_cast<double>(below(3));
          break;
        case 1:
          t.squares = !t.squares;
          break;
        case 2:
          t.looks = !t.looks;
          break;
        case 3:
          t.keeps = !t.keeps;
          break;
        case 4:
          t.draws = !t.draws;
          break;
        case 5:
          t.seeds = !t.seeds;
          break;
        case 6:
          t.updates = 1 + static_cast<int>(below(2));
          break;
        case 7:
          t.second = !t.second;
          break;
        case 8:
          t.swapped = !t.swapped;
          break;
        default:
          t.batch_size = 1 + static_cast<int64_t>(below(3));
          break;
      }
    };
    Pair pair({.verify = true}, seed % 3 ? TrainerOptions{} : TrainerOptions{.clip_norm = 0.3});
    Turns turns;
    int number = 0;
    for (int i = 0; i < 14; ++i) {
      take_steps(pair, turns, number, 3 + static_cast<int>(below(4)));
      Turns once = turns;
      change(once);
      once.stops = below(5) == 0;
      take_steps(pair, once, number, 1);
      if (below(2)) take_steps(pair, turns, number, 1);
      if (below(3) == 0) change(turns);
      if (HasFatalFailure()) return;
    }
    verified += pair.counts().verified;
  }
  EXPECT_GE(verified, 100);
}

}  // namespace
}  // namespace thalweg::train
