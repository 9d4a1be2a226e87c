// Whole nets beside PyTorch: the same weights and batches give the same losses.

#include <gtest/gtest.h>

#include <thalweg/base/threads.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/train/trainer.h>

#include "train/fixture.h"

namespace thalweg::train {
namespace {

// -log softmax of the label, a value per sample.
Tensor cross_entropy(const Tensor& logits, const Tensor& one_hot) {
  return logsumexp(logits, {1}) - sum(logits * one_hot, {1});
}

Tensor one_hot_rows(const Json& labels, int64_t classes, DType dtype) {
  std::vector<double> rows;
  for (const Json& label : labels)
    for (int64_t c = 0; c < classes; ++c) rows.push_back(label.get<int64_t>() == c);
  return Tensor::of(rows, {static_cast<int64_t>(labels.size()), classes}).to(dtype);
}

nn::Sequential mlp(DType dtype) {
  return nn::Sequential{nn::Dense(12, {.activation = nn::relu, .dtype = dtype}),
                        nn::Dense(8, {.activation = nn::tanh, .dtype = dtype}),
                        nn::Dense(4, {.dtype = dtype})};
}

// PyTorch counts its activations as modules of their own: its 0, 2, 4 are ours 0, 1, 2.
void set_weights(nn::Module& net, const Json& weights, DType dtype) {
  for (const auto& [name, value] : weights.items()) {
    const std::string own = std::to_string((name[0] - '0') / 2) + name.substr(1);
    net.parameters()[own].set_data(array(value, dtype), own);
  }
}

std::vector<double> losses(const Json& run, const optim::Optimizer& optimizer, DType dtype) {
  nn::Sequential net = mlp(dtype);
  set_weights(net, run.at("weights"), dtype);
  Trainer trainer(net.parameters(), optimizer);
  std::vector<double> result;
  const Json& batches = run.at("batches");
  for (size_t step = 0; step < run.at("losses").size(); ++step) {
    const Json& batch = batches[step % batches.size()];
    Tensor loss;
    {
      Record record;
      loss = cross_entropy(net(array(batch.at("x"), dtype)), one_hot_rows(batch.at("y"), 4, dtype));
    }
    loss.backward();
    trainer.step(loss.size());
    result.push_back(mean(loss).to(DType::f64).item<double>());
  }
  return result;
}

const optim::Optimizer& optimizer_of(const std::string& name) {
  static const optim::SGD sgd({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 1e-3});
  static const optim::Adam adam({.learning_rate = 0.01});
  if (name == "sgd") return sgd;
  return adam;
}

class Mlp : public testing::TestWithParam<std::string> {};

TEST_P(Mlp, HasPyTorchsLossesOver100Steps) {
  const Json& run = fixtures("mlp").at(GetParam());
  for (const auto& [dtype, tolerance] : {std::pair{DType::f64, 1e-7}, {DType::f32, 1e-4}}) {
    const std::vector<double> got = losses(run, optimizer_of(GetParam()), dtype);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], run.at("losses")[i].get<double>(), tolerance)
          << name(dtype) << ", step " << i;
  }
}

TEST_P(Mlp, HasTheSameBitsForAnyThreadCountAndFromRunToRun) {
  const Json& run = fixtures("mlp").at(GetParam());
  const int before = num_threads();
  const std::vector<double> wanted = losses(run, optimizer_of(GetParam()), DType::f32);
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    EXPECT_EQ(losses(run, optimizer_of(GetParam()), DType::f32), wanted) << threads << " threads";
  }
  set_num_threads(before);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Mlp, testing::Values("sgd", "adam"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace thalweg::train
