#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/file.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/function.h>
#include <thalweg/model/exported.h>
#include <thalweg/model/parameters.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/nn/summary.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg::model {
namespace {

using nn::Activation, nn::BatchNorm, nn::Conv2D, nn::Dense, nn::Dropout, nn::Embedding, nn::Flatten;
using nn::HookHandle, nn::Lambda, nn::MaxPool2D, nn::Module, nn::Members, nn::Residual,
    nn::Sequential;
using nn::NamedParameter, nn::NetSummary, nn::Parameter, nn::ParameterList;
using testing::HasSubstr;

std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }

Sequential conv_net() {
  Sequential net{
      Conv2D(6, {.kernel = 3, .padding = 1}),
      BatchNorm(),
      nn::Activation(nn::relu),
      Residual(Sequential{Conv2D(6, {.kernel = 3, .padding = 1}), BatchNorm()}, nn::relu),
      MaxPool2D(),
      Flatten(),
      Dropout(0.25),
      Dense(10, {.activation = nn::relu}),
      Dense(4)};
  net.initialize(init::xavier(), {.seed = 7});
  return net;
}

Tensor images(int64_t n) { return random_normal({n, 1, 8, 8}); }

class Exported : public testing::Test {
 protected:
  ImportedModel through_a_file(Module& net, const Tensor& example, ExportOptions options = {}) {
    export_model(folder_ / "model", net, example, options);
    return import_model(folder_ / "model");
  }
  std::string export_error(Module& net, const Tensor& example) {
    return error_text(ErrorKind::invalid, [&] { export_model(folder_ / "model", net, example); });
  }
  TempDir folder_;
};

TEST_F(Exported, GivesTheSameBitsForAnyBatch) {
  Sequential net = conv_net();
  ImportedModel model = through_a_file(net, images(4));
  EXPECT_TRUE(model.any_batch());
  for (const int64_t n : {4, 1, 7}) {
    const Tensor x = images(n);
    EXPECT_EQ(values(model(x)), values(net(x))) << n;
  }
}

TEST_F(Exported, HasTheNamesAndTheLookOfItsNet) {
  Sequential net = conv_net();
  ImportedModel model = through_a_file(net, images(4));
  const ParameterList of_net = net.parameters(), of_model = model.parameters();
  ASSERT_EQ(of_net.size(), of_model.size());
  for (const NamedParameter& item : of_net) {
    const Parameter other = of_model[item.name];
    EXPECT_EQ(values(other.data()), values(item.parameter.data())) << item.name;
    EXPECT_EQ(other.differentiable(), item.parameter.differentiable()) << item.name;
  }
  EXPECT_EQ(model.describe(), net.describe());
  const NetSummary s = summarize(model, Shape{4, 1, 8, 8});
  EXPECT_EQ(s.parameters, of_net.element_count());
  EXPECT_EQ(s.layers[0].name, "0");
  EXPECT_EQ(s.layers[0].type, "Conv2D");
}

// The loss of a step, and the parameters after it by plain gradient descent.
float train_step(Module& net, const Tensor& x, const Tensor& y) {
  Tensor loss;
  {
    const Record record;
    loss = mean(square(net(x) - y));
  }
  loss.backward();
  for (const NamedParameter& item : net.parameters().trainable()) {
    const Pause pause;
    item.parameter.data() -= item.parameter.grad() * 0.1;
  }
  return loss.item<float>();
}

TEST_F(Exported, TrainsAsItsNetDoesWithDropoutAndRunningStatistics) {
  Sequential net = conv_net();
  ImportedModel model = through_a_file(net, images(4));
  for (const int64_t n : {4, 6, 4}) {
    const Tensor x = images(n), y = random_normal({n, 4});
    const RandomState random = default_random_state();
    const float expected = train_step(net, x, y);
    set_default_random_state(random);
    EXPECT_EQ(train_step(model, x, y), expected);
  }
  for (const NamedParameter& item : net.parameters())
    EXPECT_EQ(values(model.parameters()[item.name].data()), values(item.parameter.data()))
        << item.name;
}

TEST_F(Exported, IsPlanned) {
  Sequential net = conv_net();
  ImportedModel model = through_a_file(net, images(4));
  model.hybridize();
  for (int i = 0; i < 4; ++i) {
    const Tensor x = images(4);
    EXPECT_EQ(values(model(x)), values(net(x)));
  }
  EXPECT_THAT(model.explain_plan(), HasSubstr("2 replayed"));
}

TEST_F(Exported, IsExportedOnceMoreTheSame) {
  Sequential net = conv_net();
  ImportedModel model = through_a_file(net, images(4));
  export_model(folder_ / "again", model, images(4));
  EXPECT_EQ(read_file(folder_ / "again/model.json"), read_file(folder_ / "model/model.json"));
}

TEST_F(Exported, LeavesTheNetAndRandomNumbersAsTheyWere) {
  Sequential net = conv_net();
  const Tensor x = images(4);
  net(x);
  std::vector<std::vector<float>> before;
  for (const NamedParameter& item : net.parameters())
    before.push_back(values(item.parameter.data()));
  const RandomState random = default_random_state();
  export_model(folder_ / "model", net, x);
  EXPECT_EQ(default_random_state(), random);
  size_t i = 0;
  for (const NamedParameter& item : net.parameters())
    EXPECT_EQ(values(item.parameter.data()), before[i++]) << item.name;
}

TEST_F(Exported, TakesParametersOfACheckpoint) {
  Sequential net = conv_net();
  ImportedModel model = through_a_file(net, images(4));
  net.initialize(init::xavier(), {.reset = true, .seed = 8});
  save_parameters(net, folder_ / "weights.safetensors");
  load_parameters(model, folder_ / "weights.safetensors");
  const Tensor x = images(2);
  EXPECT_EQ(values(model(x)), values(net(x)));
}

struct Attentive : Module {
  Embedding words{11, 6};
  Dense keys{6}, queries{6};
  void members(Members& m) override { m("words", words)("keys", keys)("queries", queries); }
  Tensor forward(const Tensor& tokens) override {
    const Tensor x = words(tokens) + positions(tokens.size(1));
    const Tensor scores = matmul(queries(x), transpose(keys(x), 1, 2)) * 0.4;
    return reshape(scores, {tokens.size(0), -1});
  }
  // Numbers that the host makes.
  static Tensor positions(int64_t length) {
    std::vector<float> table;
    for (int64_t i = 0; i < length * 6; ++i) table.push_back(static_cast<float>(i % 7) / 7);
    return reshape(Tensor::of(table), {length, 6});
  }
};

TEST_F(Exported, KeepsConstantsAndSizesThatFollowTheBatch) {
  Attentive net;
  net.initialize();
  const Tensor tokens = random_integers({3, 5}, 0, 11);
  net(tokens);
  ImportedModel model = through_a_file(net, tokens);
  EXPECT_TRUE(model.any_batch());
  const Tensor more = random_integers({8, 5}, 0, 11);
  EXPECT_EQ(values(model(more)), values(net(more)));
  EXPECT_THAT(read_file(folder_ / "model/model.json"), HasSubstr("\"N\""));
  EXPECT_EQ(model.input_dtype(), DType::i64);
  EXPECT_EQ(model.input_shape(0, 9), (Shape{9, 5}));
}

TEST_F(Exported, TakesSeveralArgumentsAndResults) {
  Sequential net{Dense(4, {.in_units = 3})};
  net.initialize();
  const auto function = [&](std::span<const Tensor> in) {
    const Tensor y = net(in[0]) * in[1];
    return std::vector<Tensor>{y, sum(y, {1})};
  };
  const Tensor examples[] = {Tensor::ones({2, 3}), Tensor::ones({2, 1})};
  export_model(folder_ / "model", net, function, examples);
  ImportedModel model = import_model(folder_ / "model");
  const Tensor x[] = {random_normal({5, 3}), random_normal({5, 1})};
  const std::vector<Tensor> got = model.call(x), expected = function(x);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(values(got[0]), values(expected[0]));
  EXPECT_EQ(values(got[1]), values(expected[1]));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { model(x[0]); }), HasSubstr("use call()"));
}

TEST_F(Exported, SaysWhyItTakesOneBatchAlone) {
  Sequential net{Lambda("of the batch", [](const Tensor& x) {
    return x * static_cast<double>(x.size(0) * x.size(0));
  })};
  ImportedModel model = through_a_file(net, Tensor::ones({3, 2}));
  EXPECT_FALSE(model.any_batch());
  EXPECT_EQ(values(model(Tensor::ones({3, 2}))), std::vector<float>(6, 9));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           model(Tensor::ones({4, 2}));
                         }),
              HasSubstr("argument 0 is f32 [4, 2]; expected f32 [3, 2]; no other batch is "
                        "possible"));
}

TEST_F(Exported, NamesTheArgumentThatDoesNotFit) {
  Sequential net{Dense(4, {.in_units = 3})};
  net.initialize();
  ImportedModel model = through_a_file(net, Tensor::ones({2, 3}));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           model(Tensor::ones({2, 4}));
                         }),
              HasSubstr("argument 0 is f32 [2, 4]; expected f32 [N, 3]"));
}

TEST_F(Exported, NamesALambdaThatLooksAtElements) {
  Sequential net{Dense(4, {.in_units = 3}),
                 Lambda("host", [](const Tensor& x) { return x * x.to_vector<float>()[0]; })};
  net.initialize();
  EXPECT_THAT(export_error(net, Tensor::ones({2, 3})),
              HasSubstr("the host looks at the elements of a tensor f32 [2, 4]"));
  EXPECT_THAT(export_error(net, Tensor::ones({2, 3})), HasSubstr("in 1 (Lambda)"));
}

struct Doubled : Function {
  std::vector<Tensor> forward(std::span<const Tensor> in) override { return {in[0] * 2}; }
  std::vector<Tensor> backward(std::span<const Tensor> g) override { return {g[0] * 2}; }
};

TEST_F(Exported, NamesAFunctionWithAGradientOfItsOwn) {
  Sequential net{Dense(4, {.in_units = 3}), Lambda("custom", [](const Tensor& x) {
                   return thalweg::apply(std::make_shared<Doubled>(), {x})[0];
                 })};
  net.initialize();
  EXPECT_THAT(export_error(net, Tensor::ones({2, 3})),
              HasSubstr("a function with a gradient of its own is no op of the table, so that no "
                        "file can name it, in 1 (Lambda)"));
}

TEST_F(Exported, NamesALayerWithHooks) {
  Sequential net{Dense(4, {.in_units = 3})};
  net.initialize();
  const HookHandle handle = net[0].add_hook([](Module&, std::span<const Tensor>, Tensor&) {});
  EXPECT_THAT(export_error(net, Tensor::ones({2, 3})), HasSubstr("hooks run on the host"));
}

TEST_F(Exported, NamesTheLayerOfAnErrorInsideAModel) {
  Sequential net{Dense(4, {.in_units = 3}), Embedding(5, 2)};
  net.initialize();
  Sequential words{Embedding(5, 2)};
  words.initialize();
  ImportedModel model = through_a_file(words, Tensor::zeros({2}, {.dtype = DType::i64}));
  EXPECT_THAT(
      error_text(ErrorKind::invalid, [&] { model(Tensor::full({2}, 9, {.dtype = DType::i64})); }),
      HasSubstr("in 0 (Embedding)"));
}

}  // namespace
}  // namespace thalweg::model
