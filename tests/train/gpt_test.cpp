// A small GPT beside PyTorch: the same weights and tokens give the same losses, also as a plan.

#include <cmath>

#include <thalweg/nn/attention.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>

#include "train/net_losses.h"

namespace thalweg::train {
namespace {

constexpr int64_t kVocabulary = 11, kLength = 9, kUnits = 16, kHeads = 2, kBatch = 4;

nn::Sequential gpt(DType dtype) {
  nn::Sequential net{nn::Embedding(kVocabulary, kUnits),
                     nn::PositionalEmbedding(kLength, kUnits),
                     nn::TransformerBlock(kUnits, kHeads, {.causal = true}),
                     nn::TransformerBlock(kUnits, kHeads, {.causal = true}),
                     nn::LayerNorm(),
                     nn::Dense(kVocabulary)};
  net.cast(dtype);
  net.initialize();
  net(Tensor::zeros({1, kLength}, {DType::i64}));
  int64_t k = 0;
  for (const nn::NamedParameter& item : net.parameters()) {
    const double middle = item.name.ends_with("gamma") ? 1 : 0;
    std::vector<double> values(static_cast<size_t>(item.parameter.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      const double angle = 0.7 + 1.3 * static_cast<double>(k) + 0.9 * static_cast<double>(i);
      values[i] = middle + 0.25 * std::sin(angle);
    }
    item.parameter.set_data(Tensor::of(values, item.parameter.shape()).to(dtype));
    ++k;
  }
  return net;
}

// [B, T + 1]: each token but the last is followed by what it is to predict.
Tensor tokens(int64_t step) {
  std::vector<int64_t> values;
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t t = 0; t <= kLength; ++t) {
      values.push_back((3 * b * b + 5 * t + t * t * (1 + step % 4)) % kVocabulary);
    }
  }
  return Tensor::of(values, {kBatch, kLength + 1});
}

void expect_losses(DType dtype, bool planned, double tolerance) {
  const Json& expected = fixtures("gpt").at("adamw").at("losses");
  nn::Sequential net = gpt(dtype);
  expect_net_losses(net, optim::AdamW({.learning_rate = 3e-3}), expected, expected.size(), planned,
                    tolerance, [](int64_t step) {
                      const Tensor batch = tokens(step);
                      return InputAndLabel{slice(batch, 1, 0, kLength).contiguous(),
                                           slice(batch, 1, 1, kLength + 1).contiguous()};
                    });
}

TEST(Gpt, HasPyTorchsLossesOver50Steps) {
  expect_losses(DType::f64, false, 1e-9);
  expect_losses(DType::f32, false, 1e-4);
}

TEST(Gpt, HasPyTorchsLossesOver50StepsAsAPlan) {
  expect_losses(DType::f64, true, 1e-9);
  expect_losses(DType::f32, true, 1e-4);
}

}  // namespace
}  // namespace thalweg::train
