// Whole nets beside PyTorch: the same weights and batches give the same losses.

#include <map>

#include <gtest/gtest.h>

#include <thalweg/base/philox.h>
#include <thalweg/base/threads.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/pool.h>
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

// A LeNet for images of 12 x 12.
nn::Sequential lenet(DType dtype) {
  return nn::Sequential{
      nn::Conv2D(4, {.kernel = 3, .padding = 1, .activation = nn::relu, .dtype = dtype}),
      nn::MaxPool2D(),
      nn::Conv2D(6, {.kernel = 3, .activation = nn::relu, .dtype = dtype}),
      nn::MaxPool2D(),
      nn::Flatten(),
      nn::Dense(16, {.activation = nn::relu, .dtype = dtype}),
      nn::Dense(3, {.dtype = dtype})};
}

// Both frameworks list the parameters in the order of the layers, but PyTorch counts activations
// as layers of their own.
void set_weights(nn::Module& net, const Json& weights, DType dtype) {
  std::map<int, std::string> layers;  // by PyTorch's number
  for (const auto& [name, value] : weights.items()) layers[std::stoi(name)] = "";
  auto layer = layers.begin();
  for (const nn::NamedParameter& item : net.parameters()) {
    if (!item.name.ends_with(".weight")) continue;
    (layer++)->second = item.name.substr(0, item.name.find('.'));
  }
  for (const auto& [name, value] : weights.items()) {
    const std::string own = layers[std::stoi(name)] + name.substr(name.find('.'));
    net.parameters()[own].set_data(array(value, dtype), own);
  }
}

std::vector<double> losses(nn::Sequential net, const Json& run, const optim::Optimizer& optimizer,
                           DType dtype) {
  set_weights(net, run.at("weights"), dtype);
  Trainer trainer(net.parameters(), optimizer);
  const auto classes = run.at("classes").get<int64_t>();
  std::vector<double> result;
  const Json& batches = run.at("batches");
  for (size_t step = 0; step < run.at("losses").size(); ++step) {
    const Json& batch = batches[step % batches.size()];
    Tensor loss;
    {
      Record record;
      loss = cross_entropy(net(array(batch.at("x"), dtype)),
                           one_hot_rows(batch.at("y"), classes, dtype));
    }
    loss.backward();
    trainer.step(loss.size());
    result.push_back(mean(loss).to(DType::f64).item<double>());
  }
  return result;
}

void expect_losses(const std::vector<double>& got, const Json& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i].get<double>(), tolerance) << "step " << i;
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
  const optim::Optimizer& optimizer = optimizer_of(GetParam());
  expect_losses(losses(mlp(DType::f64), run, optimizer, DType::f64), run.at("losses"), 1e-7);
  expect_losses(losses(mlp(DType::f32), run, optimizer, DType::f32), run.at("losses"), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Mlp, testing::Values("sgd", "adam"),
                         [](const auto& info) { return info.param; });

TEST(LeNet, HasPyTorchsLossesOver100Steps) {
  const Json& run = fixtures("lenet").at("sgd");
  const optim::SGD sgd({.learning_rate = 0.01, .momentum = 0.9});
  expect_losses(losses(lenet(DType::f64), run, sgd, DType::f64), run.at("losses"), 1e-7);
  expect_losses(losses(lenet(DType::f32), run, sgd, DType::f32), run.at("losses"), 1e-4);
}

// Large enough that a second thread is woken for its products and updates.
std::vector<float> weights_after_steps() {
  Philox random(3);
  const auto values = [&](int64_t rows, int64_t columns) {
    std::vector<float> v(static_cast<size_t>(rows * columns));
    for (float& x : v) x = random.normal();
    return Tensor::of(v, {rows, columns});
  };
  nn::Sequential net{nn::Dense(256, {.activation = nn::relu}), nn::Dense(64)};
  net.initialize(init::xavier(), {.seed = 1});
  Trainer trainer(net.parameters(), optim::Adam({.learning_rate = 0.01}), {.clip_norm = 1});
  for (int step = 0; step < 4; ++step) {
    const Tensor x = values(128, 300), y = values(128, 64);
    Tensor loss;
    {
      Record record;
      loss = mean(square(net(x) - y), {1});
    }
    loss.backward();
    trainer.step(128);
  }
  return net.parameters()["0.weight"].data().to_vector<float>();
}

TEST(Nets, HaveTheSameBitsForAnyThreadCountAndFromRunToRun) {
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<float> wanted = weights_after_steps();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    EXPECT_TRUE(weights_after_steps() == wanted) << threads << " threads";
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace thalweg::train
