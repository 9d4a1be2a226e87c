// ResNet-20 beside PyTorch: the same weights and images give the same losses, also as a plan.

#include <cmath>

#include <thalweg/nn/residual.h>

#include "train/net_losses.h"

namespace thalweg::train {
namespace {

constexpr int64_t kBatch = 4, kSide = 16, kClasses = 10;

// Numbers about the middle with little order.
Tensor scattered(int64_t k, const Shape& shape, double scale, double middle = 0) {
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const int64_t number = (i * i * 31 + i * 7919 + k * 104729) % 1009;
    values[static_cast<size_t>(i)] = middle + scale * (static_cast<double>(number) / 504 - 1);
  }
  return Tensor::of(values, shape);
}

void set_weights(nn::Sequential& net, DType dtype) {
  net.cast(dtype);
  net.initialize();
  net(Tensor::zeros({1, 3, kSide, kSide}, {dtype}));
  int64_t k = 0;
  for (const nn::NamedParameter& item : net.parameters()) {
    if (item.name.find("running") != std::string::npos) continue;
    const Shape shape = item.parameter.shape();
    const int64_t inputs = element_count(shape) / shape[0];
    const double scale = shape.size() > 1 ? 2 / std::sqrt(static_cast<double>(inputs)) : 0.1;
    const double middle = item.name.ends_with("gamma") ? 1 : 0;
    item.parameter.set_data(scattered(k++, shape, scale, middle).to(dtype));
  }
}

void expect_losses(DType dtype, bool planned, size_t steps, double tolerance) {
  const Json& expected = fixtures("resnet").at("sgd").at("losses");
  nn::Sequential net = nn::resnet_cifar(20, kClasses);
  set_weights(net, dtype);
  expect_net_losses(net, optim::SGD({.learning_rate = 0.004, .momentum = 0.9}), expected, steps,
                    planned, tolerance, [&](int64_t step) {
                      const int64_t part = step % 3;
                      return InputAndLabel{
                          scattered(part, {kBatch, 3, kSide, kSide}, 1).to(dtype),
                          Tensor::of<int64_t>({0, 1 + part, 2 + 2 * part, 3 + 3 * part}, {kBatch})};
                    });
}

TEST(ResNet20, HasPyTorchsLossesOver50Steps) { expect_losses(DType::f64, false, 50, 1e-7); }

TEST(ResNet20, HasPyTorchsLossesOver50StepsAsAPlan) { expect_losses(DType::f64, true, 50, 1e-7); }

// With what is cheap computed again, the arena falls and the bits stay.
TEST(ResNet20, FitsIntoLessMemoryWithTheSameBits) {
  struct Run {
    std::vector<float> losses;
    int64_t arena;
    std::string explained;
  };
  const auto run = [](int64_t budget) {
    nn::Sequential net = nn::resnet_cifar(20, kClasses);
    set_weights(net, DType::f32);
    Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.004, .momentum = 0.9}));
    auto step = plan(
        [&](const Tensor& x, const Tensor& label) {
          Tensor loss;
          {
            const Record record;
            loss = softmax_cross_entropy(net(x), label);
          }
          loss.backward();
          trainer.step(kBatch);
          return loss;
        },
        {.memory_budget = budget});
    Run r;
    for (int64_t i = 0; i < 6; ++i) {
      const Tensor x = scattered(i, {kBatch, 3, kSide, kSide}, 1).to(DType::f32);
      for (const float loss : step(x, Tensor::of<int64_t>({0, 1, 2, 3})).to_vector<float>())
        r.losses.push_back(loss);
    }
    EXPECT_GE(step.counts().replayed, 3);
    r.explained = step.explain();
    const std::string before = "temporaries in ";
    r.arena = std::stol(r.explained.substr(r.explained.rfind("  " + before) + 2 + before.size()));
    return r;
  };
  const Run all = run(0);
  const int64_t budget = all.arena * 2 / 3;
  const Run less = run(budget);
  EXPECT_LE(less.arena, budget) << less.explained;
  EXPECT_EQ(less.losses, all.losses);
}

// Later on, batch norm over few samples makes rounding errors grow: after 50 steps of this kind
// PyTorch's own f32 and f64 losses differ by up to 3e-3.
TEST(ResNet20, HasPyTorchsFirstLossesInF32) {
  expect_losses(DType::f32, false, 6, 1e-4);
  expect_losses(DType::f32, true, 6, 1e-4);
}

}  // namespace
}  // namespace thalweg::train
