// Recurrent layers beside PyTorch's: outputs, states and all gradients.

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/loss.h>
#include <thalweg/nn/recurrent.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/nn/summary.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg::nn {
namespace {

constexpr double kTolerance = 1e-9;

Tensor leaf(const Json& expected, const char* name) {
  if (!expected.contains(name)) return {};
  const Tensor x = array(expected.at(name));
  x.attach_grad();
  return x;
}

void set_parameters(Module& net, const Json& expected, DType dtype = DType::f64) {
  net.cast(dtype);
  net.initialize();
  for (const NamedParameter& item : net.parameters()) {
    item.parameter.set_data(array(expected.at("parameter " + item.name), dtype));
  }
}

void expect_gradient(const Tensor& x, const Json& expected, const std::string& name) {
  SCOPED_TRACE(name);
  if (x.defined()) expect_near(x.grad(), expected.at("gradient " + name), kTolerance);
}

void check_layer(const char* name, RecurrentLayer&& layer) {
  SCOPED_TRACE(name);
  const Json& expected = fixtures("recurrent").at(name);
  set_parameters(layer, expected);
  const Tensor x = leaf(expected, "x"), h0 = leaf(expected, "h0"), c0 = leaf(expected, "c0");
  RecurrentInputs inputs{.states = {h0, c0}};
  if (expected.contains("lengths")) inputs.lengths = array(expected.at("lengths"), DType::i64);
  RecurrentOutputs out;
  Tensor total;
  {
    const Record record;
    out = layer(x, inputs);
    total = sum(out.y * array(expected.at("y head")));
    total = total + sum(out.states.h * array(expected.at("h head")));
    if (out.states.c.defined()) total = total + sum(out.states.c * array(expected.at("c head")));
  }
  total.backward();
  expect_near(out.y, expected.at("y"), kTolerance);
  expect_near(out.states.h, expected.at("h"), kTolerance);
  ASSERT_EQ(out.states.c.defined(), expected.contains("c"));
  if (out.states.c.defined()) expect_near(out.states.c, expected.at("c"), kTolerance);
  expect_gradient(x, expected, "x");
  expect_gradient(h0, expected, "h0");
  expect_gradient(c0, expected, "c0");
  for (const NamedParameter& item : layer.parameters())
    expect_gradient(item.parameter.data(), expected, item.name);
}

const RecurrentLayerOptions kDeep{.layers = 2, .bidirectional = true};

TEST(Recurrent, LstmStepsAsPyTorchs) {
  check_layer("lstm", LSTM(4));
  check_layer("lstm deep", LSTM(4, kDeep));
  check_layer("lstm time first", LSTM(4, {.bidirectional = true, .time_first = true}));
  check_layer("lstm without bias", LSTM(4, {.bias = false}));
}

TEST(Recurrent, GruStepsAsPyTorchs) {
  check_layer("gru", GRU(4));
  check_layer("gru deep", GRU(4, kDeep));
  check_layer("gru without bias", GRU(4, {.bias = false}));
}

TEST(Recurrent, RnnStepsAsPyTorchs) {
  check_layer("rnn", RNN(4, kDeep));
  check_layer("rnn relu", RNN(4, {}, relu));
}

void check_cell(const char* name, RecurrentCellModule&& cell) {
  SCOPED_TRACE(name);
  const Json& expected = fixtures("recurrent").at(name);
  set_parameters(cell, expected);
  const RecurrentStates next =
      cell(array(expected.at("x")), {leaf(expected, "h0"), leaf(expected, "c0")});
  expect_near(next.h, expected.at("h"), kTolerance);
  ASSERT_EQ(next.c.defined(), expected.contains("c"));
  if (next.c.defined()) expect_near(next.c, expected.at("c"), kTolerance);
}

TEST(Recurrent, CellsStepAsPyTorchs) {
  check_cell("lstm cell", LSTMCell(4));
  check_cell("gru cell", GRUCell(4));
  check_cell("rnn cell", RNNCell(4));
}

TEST(Recurrent, AStateCarriedOnContinuesTheSequence) {
  GRU gru(3);
  gru.initialize(init::xavier(), {.seed = 1});
  const Tensor x = array(fixtures("recurrent").at("lstm").at("x"), DType::f32);
  const RecurrentOutputs whole = gru(x, {});
  const RecurrentOutputs begin = gru(slice(x, 1, 0, 2), {});
  const RecurrentOutputs end = gru(slice(x, 1, 2, 5), {.states = begin.states});
  expect_near(end.y, slice(whole.y, 1, 2, 5), 1e-6);
  expect_near(end.states.h, whole.states.h, 1e-6);
}

TEST(Recurrent, DropoutBetweenLayersIsForTrainingOnly) {
  LSTM net(8, {.layers = 2, .dropout = 0.5});
  net.initialize(init::xavier(), {.seed = 1});
  const Tensor x = Tensor::ones({2, 3, 4});
  const Tensor plain = net(x);
  expect_near(net(x), plain, 0);
  const Record record;
  EXPECT_NE(net(x).to_vector<float>(), plain.to_vector<float>());
}

TEST(Recurrent, NamesArePyTorchsAndSizesAreLearned) {
  LSTM net(3, kDeep);
  net.initialize();
  net(Tensor::ones({2, 4, 5}));
  const ParameterList parameters = net.parameters();
  EXPECT_EQ(parameters.size(), 16u);
  EXPECT_EQ(parameters[0].name, "weight_ih_l0");
  EXPECT_EQ(parameters["weight_ih_l0"].shape(), (Shape{12, 5}));
  EXPECT_EQ(parameters["weight_ih_l1_reverse"].shape(), (Shape{12, 6}));
  EXPECT_EQ(parameters["bias_hh_l0_reverse"].shape(), (Shape{12}));
  EXPECT_EQ(net.describe(), "LSTM(5 -> 3, layers=2, bidirectional=true)");
  EXPECT_EQ(GRU(3).describe(), "GRU(None -> 3)");
  EXPECT_EQ(RNN(3, {.bias = false}, relu).describe(),
            "RNN(None -> 3, Activation(relu), bias=false)");
  EXPECT_EQ(LSTMCell(3).describe(), "LSTMCell(None -> 3)");
}

TEST(Recurrent, AppearInASummaryWithTheirProducts) {
  Sequential net{LSTM(8, {.bias = false}), Dense(2)};
  net.initialize();
  const NetSummary s = summarize(net, Shape{2, 5, 4});
  EXPECT_EQ(s.layers[0].description, "LSTM(4 -> 8, bias=false)");
  EXPECT_EQ(s.layers[0].output, (Shape{2, 5, 8}));
  EXPECT_EQ(s.layers[0].parameters, 32 * 4 + 32 * 8);
  const int64_t input = 2 * 10 * 32 * 4, state = 2 * 10 * 32 * 8 + 10 * 32;
  EXPECT_EQ(s.layers[0].operations, input + state);
}

TEST(Recurrent, AHybridizedNetGivesTheBitsOfTheEagerOne) {
  Sequential net{LSTM(8, kDeep), Dense(2)};
  net.initialize(init::xavier(), {.seed = 1});
  const Tensor x = array(fixtures("recurrent").at("lstm").at("x"), DType::f32);
  const Tensor eager = net(x);
  net.hybridize();
  for (int i = 0; i < 4; ++i) expect_near(net(x), eager, 0);
}

// Words 0 are padding, in the embedding and so in the layer behind it.
TEST(Recurrent, ZerosAtTheEndArePaddingIfAskedFor) {
  Embedding embedding(6, 3, {.padding = 0});
  embedding.initialize(init::xavier(), {.seed = 1});
  LSTM found(4, {.bidirectional = true, .zero_padding = true}), given(4, {.bidirectional = true});
  found.initialize(init::xavier(), {.seed = 2});
  given.initialize(init::xavier(), {.seed = 2});
  const Tensor x = embedding(Tensor::of<int64_t>({3, 0, 5, 0, 1, 2, 4, 1, 0, 0, 0, 0}, {3, 4}));
  const RecurrentOutputs out = found(x, {});
  const RecurrentOutputs expected = given(x, {.lengths = Tensor::of<int64_t>({3, 4, 0})});
  expect_near(out.y, expected.y, 0);
  expect_near(out.states.h, expected.states.h, 0);
  EXPECT_NE(given(x).to_vector<float>(), expected.y.to_vector<float>());
}

TEST(Recurrent, AnEmbeddingTakesOneHotRows) {
  Embedding embedding(4, 3);
  embedding.initialize(init::xavier(), {.seed = 1});
  const Tensor words = Tensor::of<int64_t>({3, 1, 0, 2}, {2, 2});
  expect_near(embedding(one_hot(words, 4)), embedding(words), 0);
}

struct Tagger : Module {
  Embedding embedding{12, 6};
  LSTM lstm{8, {.bidirectional = true}};
  Dense out{5};

  void members(Members& m) override { m("embedding", embedding)("lstm", lstm)("out", out); }
  Tensor operator()(const Tensor& words, const Tensor& lengths) {
    return run([&] { return out(lstm(embedding(words), {.lengths = lengths}).y); }, words);
  }
};

// 50 steps of SGD with momentum.
std::vector<double> losses_of(DType dtype, bool planned) {
  const Json& expected = fixtures("recurrent").at("tagger");
  Tagger net;
  set_parameters(net, expected, dtype);
  const auto integers = [&](const char* name) { return array(expected.at(name), DType::i64); };
  const Tensor words = integers("words"), lengths = integers("lengths"), tags = integers("tags");
  std::vector<Tensor> velocity;
  for (const NamedParameter& item : net.parameters())
    velocity.push_back(Tensor::zeros(item.parameter.shape(), {dtype}));
  const auto step = [&] {
    Tensor loss;
    {
      const Record record;
      loss = TokenCrossEntropyLoss{}(net(words, lengths), tags);
    }
    loss.backward();
    const Pause pause;
    size_t i = 0;
    for (const NamedParameter& item : net.parameters()) {
      velocity[i] *= 0.9;
      velocity[i] += item.parameter.grad();
      item.parameter.data() -= velocity[i++] * 0.5;
    }
    return loss;
  };
  auto replayed = plan(step);
  std::vector<double> losses;
  for (size_t i = 0; i < expected.at("losses").size(); ++i)
    losses.push_back((planned ? replayed() : step()).to(DType::f64).item<double>());
  EXPECT_TRUE(!planned || replayed.counts().replayed > 40) << replayed.explain();
  return losses;
}

TEST(Recurrent, ATaggerTrainsAsPyTorchs) {
  const Json& wanted = fixtures("recurrent").at("tagger").at("losses");
  const std::vector<double> f64 = losses_of(DType::f64, false), f32 = losses_of(DType::f32, false);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double loss = wanted[i].get<double>();
    EXPECT_NEAR(f64[i], loss, 1e-9 * loss) << "step " << i;
    EXPECT_NEAR(f32[i], loss, 1e-4 * loss) << "step " << i;
  }
  EXPECT_EQ(losses_of(DType::f32, true), f32);
  EXPECT_LT(f64.back(), 0.1 * f64.front());
}

template <typename Action>
std::string text(Action action) {
  return error_text(ErrorKind::invalid, action);
}

TEST(Recurrent, ErrorsNameTheLayerAndWhatWasExpected) {
  EXPECT_EQ(text([&] { LSTM(0); }), "LSTM: units must be positive; 0");
  EXPECT_EQ(text([&] { GRU(2, {.layers = 0}); }), "GRU: layers must be positive; 0");
  EXPECT_EQ(text([&] { LSTM(2, {.dropout = 1}); }), "LSTM: dropout must be in [0, 1); 1");
  EXPECT_EQ(text([&] { RNN(2, {}, sigmoid); }), "RNN: no activation sigmoid; it is tanh or relu");
  LSTM net(2);
  net.initialize();
  EXPECT_EQ(text([&] {
              net(Tensor::ones({3, 4}));
            }),
            "LSTM: input of shape [3, 4]; expected [B, T, in_units], in LSTM");
  EXPECT_EQ(text([&] {
              net(Tensor::ones({3, 4, 1}), {.lengths = Tensor::of({4, 5, 1})});
            }),
            "recurrent: the length of sequence 1 is 5; it must be from 0 to 4, in LSTM");
  EXPECT_EQ(text([&] {
              net(Tensor::ones({3, 4, 1}), {.states = {.h = Tensor::ones({3, 2})}});
            }),
            "LSTM: states of shape [3, 2]; expected [layers * directions, B, units] = [1, 3, 2], "
            "in LSTM");
  EXPECT_EQ(text([&] { net.weights(1); }),
            "LSTM: no layer 1, direction 0; it has 1 layers and 1 directions");
}

}  // namespace
}  // namespace thalweg::nn
