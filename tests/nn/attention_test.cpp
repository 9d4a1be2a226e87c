// Attention layers beside PyTorch's, from its parameters, and what else they promise.

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/attention.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/nn/summary.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg::nn {
namespace {

constexpr double kTolerance = 1e-9;

// Runs `forward(x, memory, mask)` of a net with PyTorch's parameters.
template <typename Forward>
void check(const char* name, Module& net, Forward&& forward) {
  SCOPED_TRACE(name);
  const Json& expected = fixtures("attention").at(name);
  net.cast(DType::f64);
  net.initialize();
  for (const NamedParameter& item : net.parameters()) {
    item.parameter.set_data(array(expected.at("parameter " + item.name)));
  }
  const auto input = [&](const char* key) {
    return expected.contains(key) ? array(expected.at(key)).attach_grad() : Tensor();
  };
  const Tensor x = input("x"), memory = input("memory");
  const Tensor mask =
      expected.contains("mask") ? array(expected.at("mask"), DType::boolean) : Tensor();
  Tensor y, total;
  {
    Record record;
    y = forward(x, memory.defined() ? memory : x, mask);
    total = sum(y * array(expected.at("head")));
  }
  total.backward();
  expect_near(y, expected.at("y"), kTolerance);
  expect_near(x.grad(), expected.at("gradient of x"), kTolerance);
  if (memory.defined()) {
    expect_near(memory.grad(), expected.at("gradient of memory"), kTolerance);
  }
  for (const NamedParameter& item : net.parameters()) {
    SCOPED_TRACE(item.name);
    expect_near(item.parameter.grad(), expected.at("gradient " + item.name), kTolerance);
  }
}

TEST(MultiHeadAttention, StepsAsPyTorchs) {
  MultiHeadAttention plain(6, 2), causal(6, 2, {.causal = true}), cross(6, 2), masked(6, 2);
  check("self", plain, [&](const Tensor& x, auto&, auto&) { return plain(x); });
  check("causal", causal, [&](const Tensor& x, auto&, auto&) { return causal(x); });
  check("cross", cross, [&](const Tensor& x, const Tensor& m, auto&) { return cross(x, m); });
  check("masked", masked,
        [&](const Tensor& x, const Tensor& m, const Tensor& mask) { return masked(x, m, mask); });
}

TEST(TransformerBlock, StepsAsPyTorchs) {
  TransformerBlock block(6, 2, {.causal = true, .hidden_units = 10});
  check("block", block, [&](const Tensor& x, auto&, auto&) { return block(x); });
}

TEST(TransformerBlock, GivesTheSameWithItsMaskAsCausal) {
  manual_seed(5);
  TransformerBlock block(8, 2), causal(8, 2, {.causal = true});
  block.initialize(init::xavier(), {.seed = 1});
  causal.initialize(init::xavier(), {.seed = 1});
  const Tensor x = random_uniform({2, 3, 8}, -1, 1);
  const std::vector<float> seen{1, 0, 0, 1, 1, 0, 1, 1, 1};
  expect_near(block(x, Tensor::of(seen, {3, 3}).to(DType::boolean)), causal(x), 1e-6);
}

// A causal layer with rope: what position 2 gives depends on how far the others are, not on what
// comes after it.
TEST(MultiHeadAttention, TurnsQueriesAndKeysByTheirPositions) {
  manual_seed(6);
  MultiHeadAttention rotating(8, 4, {.causal = true, .kv_heads = 2, .rope = RopeOptions{}});
  rotating.initialize();
  const Tensor x = random_uniform({1, 5, 8}, -1, 1);
  const Tensor y = rotating(x);
  EXPECT_EQ(rotating.key.weight.shape(), (Shape{4, 8}));
  expect_near(rotating(slice(x, 1, 0, 3)), slice(y, 1, 0, 3), 1e-6);
  MultiHeadAttention shifted(8, 4,
                             {.causal = true, .kv_heads = 2, .rope = RopeOptions{.offset = 9}});
  shifted.initialize();
  shifted(x);
  for (const NamedParameter& p : rotating.parameters()) {
    shifted.parameters()[p.name].set_data(p.parameter.data());
  }
  expect_near(shifted(x), y, 1e-5);
}

TEST(MultiHeadAttention, DropsOnlyWhileTraining) {
  manual_seed(7);
  MultiHeadAttention layer(64, 4, {.dropout = 0.5});
  layer.initialize();
  const Tensor x = random_uniform({2, 10, 64}, -1, 1);
  const auto zeros = [](const Tensor& y) {
    return 1280 - sum((y != 0).to(DType::i64)).item<int64_t>();
  };
  EXPECT_EQ(zeros(layer(x)), 0);
  Record record;
  EXPECT_NEAR(static_cast<double>(zeros(layer(x))), 640, 80);
}

TEST(PositionalEmbedding, AddsTheRowsOfTheFirstPositions) {
  PositionalEmbedding layer(3, 2);
  layer.initialize();
  layer.weight.set_data(Tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}));
  const Tensor wanted = Tensor::of(std::vector<float>{1, 2, 3, 4}, {1, 2, 2});
  expect_near(layer(Tensor::zeros({1, 2, 2})), wanted, 0);
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         layer(Tensor::zeros({1, 4, 2}));
                       }),
            "PositionalEmbedding: input [1, 4, 2]; expected [..., T, 2] with T up to 3, in "
            "PositionalEmbedding");
}

TEST(Transformers, ArePrintedWithTheirOptions) {
  MultiHeadAttention layer(8, 4, {.causal = true, .kv_heads = 2});
  EXPECT_EQ(layer.describe(),
            "MultiHeadAttention(heads=4, kv_heads=2, causal=true\n"
            "  (query): Dense(None -> 8, linear)\n"
            "  (key): Dense(None -> 4, linear)\n"
            "  (value): Dense(None -> 4, linear)\n"
            "  (out): Dense(None -> 8, linear)\n)");
}

Sequential small_gpt() {
  return Sequential{Embedding(11, 8), PositionalEmbedding(6, 8),
                    TransformerBlock(8, 2, {.causal = true}), LayerNorm(), Dense(11)};
}

TEST(Transformers, AreSummarized) {
  Sequential net = small_gpt();
  net.initialize();
  const NetSummary s = summarize(net, Shape{2, 6}, DType::i64);
  EXPECT_EQ(s.parameters, 11 * 8 + 6 * 8 + 12 * 8 * 8 + 13 * 8 + 2 * 8 + 9 * 11);
  EXPECT_EQ(s.layers[3].name, "2.attention.query");
}

TEST(Transformers, CountTheProductsOfAttention) {
  Sequential net{TransformerBlock(8, 2)};
  net.initialize();
  const int64_t one = summarize(net, Shape{2, 1, 8}).operations;
  const int64_t six = summarize(net, Shape{2, 6, 8}).operations;
  // Two products of each query with each key, of 4 elements in each of 2 x 2 heads.
  EXPECT_EQ(six - 6 * one, 2 * (2 * 2) * 2 * 4 * (6 * 6 - 6));
}

TEST(Transformers, HybridizedGiveTheSameBits) {
  manual_seed(8);
  Sequential net = small_gpt();
  net.initialize();
  const Tensor x = random_integers({2, 6}, 0, 11);
  const std::vector<float> eager = net(x).to_vector<float>();
  net.hybridize();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(net(x).to_vector<float>(), eager);
}

TEST(Transformers, SayWhatDoesNotFit) {
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { MultiHeadAttention(10, 4); }),
            "MultiHeadAttention: 10 units cannot be cut into 4 heads");
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { MultiHeadAttention(12, 4, {.kv_heads = 3}); }),
            "MultiHeadAttention: 4 heads cannot share 3 heads of keys");
  Sequential net{TransformerBlock(8, 2)};
  net.initialize();
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         net(Tensor::zeros({2, 3, 7}));
                       }),
            "TransformerBlock: input [2, 3, 7] has 7 units; expected 8, in 0 (TransformerBlock)");
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         net(Tensor::zeros({2, 8}));
                       }),
            "TransformerBlock: input [2, 8]; expected [B, T, units], in 0 (TransformerBlock)");
}

}  // namespace
}  // namespace thalweg::nn
