// Gradients that have some rows only, and optimizers that touch no others.

#include <cmath>
#include <cstring>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/random.h>
#include <thalweg/device/memory.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/sparse.h>
#include <thalweg/train/trainer.h>

#include "base/expect_error.h"
#include "train/fixture.h"

namespace thalweg::train {
namespace {

using testing::HasSubstr;

nn::ParameterList list_of(const nn::Parameter& weight) {
  return nn::ParameterList({{"weight", weight}});
}

nn::Parameter steps_of_quarters() {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i) values.push_back(i / 4.0 - 1);
  return parameter("weight", Tensor::of(values, {5, 2}));
}

// Three steps on the rows {1, 3, 1}, {0, 3} and {4, 1}.
std::vector<double> after_three_steps(const optim::Optimizer& optimizer, EmbeddingGradient kind) {
  const nn::Parameter weight = steps_of_quarters();
  Trainer trainer(list_of(weight), optimizer);
  for (const std::vector<int64_t>& rows : {std::vector<int64_t>{1, 3, 1}, {0, 3}, {4, 1}}) {
    std::vector<double> factors;
    for (size_t i = 0; i < 2 * rows.size(); ++i) factors.push_back(static_cast<double>(i + 1) / 3);
    Tensor loss;
    {
      const Record record;
      const Tensor taken = embedding(Tensor::of(rows), weight.data(), kind);
      loss = sum(square(taken) * Tensor::of(factors, taken.shape()));
    }
    loss.backward();
    trainer.step(1);
  }
  return weight.data().to_vector<double>();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-7) << i;
}

// torch.nn.functional.embedding(sparse=True) with SGD, SparseAdam (which adds its epsilon before
// the correction of the bias) and Adagrad of torch.optim 2.
TEST(RowUpdate, GivesTheNumbersOfPyTorchsSparseGradients) {
  expect_near(after_three_steps(optim::SGD({.learning_rate = 0.1}), EmbeddingGradient::rows),
              {-0.933333333, -0.65, -0.24, -0.085555556, 0.0, 0.25, 0.32, 0.403333333, 0.933333333,
               1.083333333});
  expect_near(after_three_steps(optim::Adam({.learning_rate = 0.1}), EmbeddingGradient::rows),
              {-0.925586353, -0.675586341, -0.32286071, -0.076541639, 0.0, 0.25, 0.301187475,
               0.550625609, 0.93611867, 1.186118652});
  expect_near(
      after_three_steps(optim::AdaGrad({.learning_rate = 0.1}), EmbeddingGradient::rows),
      {-0.9, -0.65, -0.362860932, -0.121265211, 0.0, 0.25, 0.337530495, 0.584506946, 0.9, 1.15});
}

TEST(RowUpdate, OfPlainSgdAndAdaGradHasTheBitsOfTheDenseOne) {
  for (const optim::Optimizer& optimizer :
       {optim::Optimizer(optim::SGD({.learning_rate = 0.3})),
        optim::Optimizer(optim::AdaGrad({.learning_rate = 0.3}))}) {
    EXPECT_EQ(after_three_steps(optimizer, EmbeddingGradient::rows),
              after_three_steps(optimizer, EmbeddingGradient::dense));
  }
}

CsrTensor matrix(int64_t width, const std::vector<int32_t>& columns,
                 const std::vector<int64_t>& starts) {
  std::vector<float> values;
  for (size_t i = 0; i < columns.size(); ++i) values.push_back(0.5f + static_cast<float>(i));
  return {Tensor::of(values),
          Tensor::of(columns),
          Tensor::of(starts),
          {static_cast<int64_t>(starts.size()) - 1, width}};
}

// Rows are left alone: weight, momenta and all.
TEST(RowUpdate, LeavesOtherRowsAndTheirStatesAlone) {
  const std::vector<optim::Optimizer> optimizers{
      optim::SGD({.momentum = 0.9, .nesterov = true, .weight_decay = 0.1}),
      optim::Adam({.weight_decay = 0.1}), optim::AdamW({.weight_decay = 0.1}),
      optim::AdaGrad({.weight_decay = 0.1}),
      optim::RMSProp({.momentum = 0.9, .centered = true, .weight_decay = 0.1})};
  for (const optim::Optimizer& optimizer : optimizers) {
    nn::Dense net(3);
    net.initialize(init::xavier(), {.seed = 1});
    const auto step = [&](Trainer& trainer, const CsrTensor& x) {
      Tensor loss;
      {
        const Record record;
        loss = sum(square(net(x)));
      }
      loss.backward();
      trainer.step(1);
      return net.weight.data().to_vector<float>();
    };
    const CsrTensor first = matrix(6, {1, 4, 1}, {0, 2, 3}), second = matrix(6, {4}, {0, 0, 1});
    net(first);
    Trainer trainer(net.parameters(), optimizer);
    const std::vector<float> before = net.weight.data().to_vector<float>();
    const std::vector<float> once = step(trainer, first), twice = step(trainer, second);
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t column = 0; column < 6; ++column) {
        const auto i = static_cast<size_t>(row * 6 + column);
        EXPECT_EQ(once[i] != before[i], column == 1 || column == 4) << optimizer.describe() << i;
        EXPECT_EQ(twice[i] != once[i], column == 4) << optimizer.describe() << i;
      }
    }
  }
}

// The same steps with a dense and with a sparse input, clipped by the norm over all parameters.
TEST(RowUpdate, FollowsTheDenseResultUnderClippingByNorm) {
  std::vector<std::vector<float>> ends;
  for (const bool sparse : {false, true}) {
    nn::Sequential net{nn::Dense(4, {.activation = nn::tanh}), nn::Dense(2)};
    net.initialize(init::xavier(), {.seed = 5});
    const CsrTensor x = matrix(7, {6, 0, 3, 3, 2}, {0, 2, 2, 5});
    net(x);
    Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.5}), {.clip_norm = 0.01});
    for (int i = 0; i < 4; ++i) {
      Tensor loss;
      {
        const Record record;
        loss = sum(square(sparse ? net(x) : net(x.to_dense())));
      }
      loss.backward();
      EXPECT_EQ(row_gradient(net.at<nn::Dense>(0).weight.data()).has_value(), sparse);
      trainer.step(3);
    }
    EXPECT_GT(trainer.gradient_norm(), 0.01);
    ends.push_back(net.at<nn::Dense>(0).weight.data().to_vector<float>());
  }
  for (size_t i = 0; i < ends[0].size(); ++i) EXPECT_NEAR(ends[0][i], ends[1][i], 1e-6) << i;
}

TEST(RowUpdate, TakesABatchWithoutRowsOrValuesAsAnUpdateOfNothing) {
  for (const CsrTensor& empty : {matrix(5, {}, {0}), matrix(5, {}, {0, 0, 0})}) {
    nn::Embedding net(5, 2);
    net.initialize();
    Trainer trainer(net.parameters(), optim::Adam());
    const std::vector<float> before = net.weight.data().to_vector<float>();
    Tensor loss;
    {
      const Record record;
      loss = sum(net(empty));
    }
    loss.backward();
    EXPECT_TRUE(trainer.step(1));
    EXPECT_EQ(net.weight.data().to_vector<float>(), before);
  }
}

TEST(RowUpdate, SkipsOrNamesAGradientThatIsNotFinite) {
  const nn::Parameter weight = steps_of_quarters();
  const auto differentiate = [&] {
    Tensor loss;
    {
      const Record record;
      loss = sum(embedding(Tensor::of<int64_t>({2}), weight.data(), EmbeddingGradient::rows) *
                 std::numeric_limits<double>::infinity());
    }
    loss.backward();
  };
  Trainer skips(list_of(weight), optim::SGD(), {.non_finite = NonFinite::skip});
  differentiate();
  EXPECT_FALSE(skips.step(1));
  EXPECT_EQ(skips.first_non_finite_gradient(), "weight");
  EXPECT_TRUE(row_gradient(weight.data()).has_value());
}

TEST(RowUpdate, RunsEagerlyUnderAPlanWhichSaysWhy) {
  nn::Embedding net(50, 3, {.sparse_grad = true});
  net.initialize();
  Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 1}));
  const auto step = plan([&](const Tensor& rows) {
    Tensor loss;
    {
      const Record record;
      loss = sum(net(rows));
    }
    loss.backward();
    trainer.step(1);
    return loss;
  });
  auto planned = step;
  const auto first = [&] { return net.weight.data().data<float>()[7 * 3]; };
  const float before = first();
  for (int i = 0; i < 10; ++i) planned(Tensor::of<int64_t>({7, 7, i}));
  EXPECT_NEAR(first(), before - 21, 1e-5);
  EXPECT_THAT(planned.explain(), HasSubstr("row-sparse"));
  EXPECT_EQ(planned.counts().plans, 0);
}

// What a step of an embedding of a million rows takes is what its rows take.
TEST(RowUpdate, TakesTheMemoryOfItsRows) {
  constexpr int64_t kRows = 1'000'000, kUnits = 8;
  nn::Embedding net(kRows, kUnits, {.sparse_grad = true, .weight_init = init::zero()});
  net.initialize();
  Trainer trainer(net.parameters(), optim::Adam());
  const auto step = [&] {
    Tensor loss;
    {
      const Record record;
      loss = sum(net(Tensor::of<int64_t>({3, 999'999, 3, 500'000})));
    }
    loss.backward();
    trainer.step(1);
  };
  step();  // makes the states
  release_cached_memory();
  reset_peak_memory();
  const size_t before = memory_stats().live;
  step();
  EXPECT_LT(memory_stats().peak_live - before, size_t{64} << 10);
  EXPECT_EQ(row_gradient(net.weight.data())->indices.to_vector<int64_t>(),
            (std::vector<int64_t>{3, 500'000, 999'999}));
}

}  // namespace
}  // namespace thalweg::train
