#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/graph/function.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

struct StraightThroughSign : Function {
  std::vector<Tensor> forward(std::span<const Tensor> x) override { return {sign(x[0])}; }
  std::vector<Tensor> backward(std::span<const Tensor> g) override { return {g[0]}; }
};

struct Cube : Function {
  Tensor x;
  std::vector<Tensor> forward(std::span<const Tensor> in) override {
    x = in[0];
    return {x * x * x};
  }
  std::vector<Tensor> backward(std::span<const Tensor> g) override { return {3 * (g[0] * x * x)}; }
};

struct TwoInTwoOut : Function {
  std::vector<Tensor> forward(std::span<const Tensor> in) override {
    return {in[0] + in[1], in[0] - in[1]};
  }
  std::vector<Tensor> backward(std::span<const Tensor> g) override {
    return {g[0] + g[1], g[0] - g[1]};
  }
};

TEST(Function, UsesTheGradientThatWasWritten) {
  const Tensor x = Tensor::of({-2.0f, 3.0f}).attach_grad();
  Tensor loss;
  {
    Record record;
    loss = sum(apply(std::make_shared<StraightThroughSign>(), {x})[0] * 5.0);
  }
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{5, 5}));
}

TEST(Function, AddsToAGradientThatIsAddedTo) {
  const Tensor x = Tensor::of({2.0f}).attach_grad(GradReq::add);
  for (int i = 0; i < 2; ++i) {
    Tensor y;
    {
      Record record;
      y = apply(std::make_shared<Cube>(), {x})[0];
    }
    y.backward();
  }
  EXPECT_FLOAT_EQ(x.grad().item<float>(), 24);
}

TEST(Function, CanBeDifferentiatedTwice) {
  const Tensor x = Tensor::of({2.0}).attach_grad();
  Tensor y;
  {
    Record record;
    y = apply(std::make_shared<Cube>(), {x})[0];
  }
  EXPECT_DOUBLE_EQ(grad(grad(y, x, {.create_graph = true}), x).item<double>(), 12);
}

TEST(Function, GivesZerosForAnOutputThatIsNotUsed) {
  const Tensor a = Tensor::of({1.0f}).attach_grad(), b = Tensor::of({1.0f}).attach_grad();
  Tensor y;
  {
    Record record;
    y = apply(std::make_shared<TwoInTwoOut>(), {a, b})[1];
  }
  y.backward();
  EXPECT_EQ(a.grad().item<float>(), 1);
  EXPECT_EQ(b.grad().item<float>(), -1);
}

TEST(Function, WritesEveryGradientAlthoughOneInputWantsNone) {
  const Tensor a = Tensor::of({1.0f}), b = Tensor::of({1.0f}).attach_grad();
  Tensor y;
  {
    Record record;
    y = apply(std::make_shared<TwoInTwoOut>(), {a, b})[0];
  }
  y.backward();
  EXPECT_EQ(b.grad().item<float>(), 1);
}

TEST(Function, RefusesASecondCallOfOneObject) {
  const auto cube = std::make_shared<Cube>();
  apply(cube, {Tensor::ones({1})});
  EXPECT_THROW(apply(cube, {Tensor::ones({1})}), Error);
}

TEST(Function, LeavesRecordingAsItWasWhenForwardThrows) {
  struct Throws : Function {
    std::vector<Tensor> forward(std::span<const Tensor>) override { throw std::runtime_error("x"); }
    std::vector<Tensor> backward(std::span<const Tensor>) override { return {}; }
  };
  Record record;
  EXPECT_THROW(apply(std::make_shared<Throws>(), {Tensor::ones({1})}), std::runtime_error);
  EXPECT_TRUE(is_recording());
  EXPECT_TRUE(is_training());
}

TEST(Function, RefusesNoObjectAndAnUndefinedOutput) {
  struct Forgets : Function {
    std::vector<Tensor> forward(std::span<const Tensor> x) override { return {x[0], Tensor()}; }
    std::vector<Tensor> backward(std::span<const Tensor> g) override { return {g[0]}; }
  };
  const Tensor x = Tensor::ones({1}).attach_grad();
  const Record record;
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { apply(std::make_shared<Forgets>(), {x}); }),
            "Function: forward left output 1 undefined");
  EXPECT_THROW(apply(std::shared_ptr<Function>(), {x}), Error);
}

}  // namespace
}  // namespace thalweg
