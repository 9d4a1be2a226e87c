#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/reduce.h>

#include "base/expect_error.h"

namespace thalweg::nn {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

struct Mlp : Module {
  Dense hidden{4, {.activation = relu}};
  Sequential head{Dense(3), Dense(2)};
  Parameter scale{{1}, {.init = init::one()}};

  void members(Members& m) override { m("hidden", hidden)("head", head)("scale", scale); }
  Tensor forward(const Tensor& x) override { return head(hidden(x)) * scale.data(); }
};

struct Stack : Module {
  std::vector<Dense> layers = {Dense(3), Dense(3)};
  void members(Members& m) override { m("layers", layers); }
  Tensor forward(const Tensor& x) override { return layers[1](layers[0](x)); }
};

struct Scorer : Module {
  Dense query{4}, key{4};
  void members(Members& m) override { m("query", query)("key", key); }
  Tensor operator()(const Tensor& q, const Tensor& k) {
    return run([&] { return matmul(query(q), transpose(key(k))); }, q, k);
  }
  static Tensor transpose(const Tensor& x) { return x.transpose(); }
};

std::vector<std::string> names_of(const ParameterList& list) {
  std::vector<std::string> names;
  for (const NamedParameter& item : list) names.push_back(item.name);
  return names;
}

TEST(Module, NamesParametersByTheirPlaceInTheTree) {
  Mlp net;
  EXPECT_THAT(names_of(net.parameters()),
              ElementsAre("scale", "hidden.weight", "hidden.bias", "head.0.weight", "head.0.bias",
                          "head.1.weight", "head.1.bias"));
  EXPECT_THAT(names_of(net.parameters("^head.*bias$")), ElementsAre("head.0.bias", "head.1.bias"));
  EXPECT_THAT(names_of(net.parameters().with_prefix("hidden.")),
              ElementsAre("hidden.weight", "hidden.bias"));
}

TEST(Module, NumbersTheModulesOfAVector) {
  Stack net;
  EXPECT_THAT(names_of(net.parameters()),
              ElementsAre("layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"));
}

TEST(Module, GivesAParameterOfAListThatIsGone) {
  Mlp net;
  net.initialize(init::one());
  net(Tensor::ones({1, 3}));
  const auto& weight = net.parameters()["hidden.weight"];  // lives on: the list gives a value
  EXPECT_EQ(weight, net.hidden.weight);
  EXPECT_EQ(weight.shape(), (Shape{4, 3}));
}

TEST(Module, RefusesANameThatComesTwice) {
  struct Twins : Module {
    Dense a{2}, b{2};
    void members(Members& m) override { m("twin", a)("twin", b); }
  } net;
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { net.parameters(); }),
            "module: two parameters are named 'twin.weight'; names in members() are unique");
}

TEST(Module, RefusesNamesThatWouldCollideWhereTheyAreJoined) {
  struct Named : Module {
    std::string name;
    Dense layer{2};
    std::vector<Dense> layers{Dense(2)};
    bool many = false;
    void members(Members& m) override { many ? m(name, layers) : m(name, layer); }
  } net;
  for (const char* name : {"a.b", ".", ""}) {
    for (const bool many : {false, true}) {
      net.name = name;
      net.many = many;
      EXPECT_THAT(error_text(ErrorKind::invalid, [&] { net.parameters(); }),
                  HasSubstr("module: a part is named '" + std::string(name) + (many ? ".0" : "") +
                            "' in members()"));
    }
  }
}

TEST(Module, SuggestsTheNearestParameterName) {
  Mlp net;
  const std::string text =
      error_text(ErrorKind::invalid, [&] { net.parameters()["hidden.wieght"]; });
  EXPECT_THAT(text, HasSubstr("did you mean 'hidden.weight'?"));
}

TEST(Module, InfersInputSizesAtTheFirstCall) {
  Mlp net;
  net.initialize();
  EXPECT_EQ(net.hidden.weight.shape(), (Shape{4, 0}));
  EXPECT_EQ(net(Tensor::ones({5, 7})).shape(), (Shape{5, 2}));
  EXPECT_EQ(net.hidden.weight.shape(), (Shape{4, 7}));
}

TEST(Module, CountsASharedParameterOnce) {
  Dense shared(3, {.in_units = 3});
  Sequential net{shared, Dense(3, {.in_units = 3}), shared};
  const ParameterList list = net.parameters();
  EXPECT_THAT(names_of(list), ElementsAre("0.weight", "0.bias", "1.weight", "1.bias"));
  EXPECT_THAT(list[0].aliases, ElementsAre("2.weight"));
  EXPECT_EQ(list.element_count(), 24);
  EXPECT_TRUE(list["2.bias"] == list["0.bias"]);
}

// apache/mxnet#17989: with grad_req add the gradient of a layer used eight times or more differed.
TEST(Module, SumsTheGradientsOfALayerThatIsUsedManyTimes) {
  for (const GradReq req : {GradReq::write, GradReq::add}) {
    Dense layer(16, {.in_units = 16, .weight_init = init::constant(0.5)});
    layer.initialize();
    layer.parameters().set_grad_req(req);
    const Tensor x = Tensor::ones({32, 16});
    Tensor loss;
    {
      Record record;
      loss = sum(layer(x));
      for (int i = 1; i < 9; ++i) loss = loss + sum(layer(x));
    }
    loss.backward();
    EXPECT_EQ(layer.weight.grad().to_vector<float>(), std::vector<float>(256, 9 * 32.0f));
    EXPECT_EQ(layer.bias.grad().to_vector<float>(), std::vector<float>(16, 9 * 32.0f));
  }
}

TEST(Module, PutsTheInnermostLayerIntoErrors) {
  Mlp net;
  net.initialize();
  net(Tensor::ones({1, 7}));
  const std::string wrong_input = error_text(ErrorKind::invalid, [&] {
    net(Tensor::ones({1, 6}));
  });
  EXPECT_THAT(wrong_input, EndsWith(", in hidden (Dense)"));
  net.head.at<Dense>(1).weight.cast(DType::f64);
  const std::string wrong_dtype = error_text(ErrorKind::invalid, [&] {
    net(Tensor::ones({1, 7}));
  });
  EXPECT_THAT(wrong_dtype, EndsWith(", in head.1 (Dense)"));
}

TEST(Module, PutsTheNetItselfIntoErrorsOfItsOwnOps) {
  Scorer net;
  net.initialize();
  const std::string text = error_text(ErrorKind::invalid, [&] {
    net(Tensor::ones({2, 2, 3}), Tensor::ones({3, 3, 3}));
  });
  EXPECT_THAT(text, EndsWith(", in Scorer"));
}

TEST(Module, SaysThatItWasNotInitialized) {
  Sequential net{Dense(2)};
  const std::string text = error_text(ErrorKind::invalid, [&] { net(Tensor::ones({1, 2})); });
  EXPECT_THAT(text, HasSubstr("is not initialised; call initialize() on the net"));
  EXPECT_THAT(text, EndsWith(", in 0 (Dense)"));
}

TEST(Module, RefusesOneTensorWhereItTakesOthers) {
  Scorer net;
  Module& module = net;
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { module(Tensor::ones({1})); }),
              HasSubstr("Scorer: takes no single tensor"));
}

TEST(Module, KeepsPartsWorkingWhenItIsMovedAndCopied) {
  Mlp first;
  first.initialize();
  const Tensor x = Tensor::ones({1, 3});
  const Tensor expected = first(x);
  Mlp second = std::move(first);
  Mlp third = second;
  EXPECT_EQ(third(x).to_vector<float>(), expected.to_vector<float>());
  EXPECT_TRUE(third.parameters()["hidden.weight"] == second.hidden.weight);
}

TEST(Module, FreezesAndUnfreezesAllOrSomeParameters) {
  Mlp net;
  net.initialize();
  net.parameters("^head").freeze();
  EXPECT_THAT(names_of(net.parameters().trainable()),
              ElementsAre("scale", "hidden.weight", "hidden.bias"));
  const Tensor x = Tensor::ones({1, 3});
  Tensor loss;
  {
    Record record;
    loss = sum(net(x));
  }
  loss.backward();
  EXPECT_THROW(net.parameters()["head.0.weight"].grad(), Error);
  net.unfreeze();
  EXPECT_EQ(net.parameters().trainable().size(), 7u);
}

TEST(Module, CastsItsParameters) {
  Mlp net;
  net.initialize();
  net(Tensor::ones({1, 3}));
  net.cast(DType::f64);
  EXPECT_EQ(net(Tensor::ones({1, 3}, {.dtype = DType::f64})).dtype(), DType::f64);
}

TEST(Module, VisitsChildrenFirstInApplyAndParentsFirstInWalk) {
  Mlp net;
  std::vector<std::string> types, paths;
  net.apply([&](Module& m) { types.push_back(m.type_name()); });
  EXPECT_THAT(types, ElementsAre("Dense", "Dense", "Dense", "Sequential", "Mlp"));
  net.walk([&](const std::string& path, Module&) { paths.push_back(path); });
  EXPECT_THAT(paths, ElementsAre("", "hidden", "head", "head.0", "head.1"));
}

TEST(Module, PrintsItsTree) {
  Mlp net;
  std::ostringstream out;
  out << net;
  EXPECT_EQ(out.str(),
            "Mlp(\n"
            "  (hidden): Dense(None -> 4, Activation(relu))\n"
            "  (head): Sequential(\n"
            "    (0): Dense(None -> 3, linear)\n"
            "    (1): Dense(None -> 2, linear)\n"
            "  )\n"
            ")");
}

TEST(Sequential, PassesTheInputThroughWhenItIsEmpty) {
  Sequential net;
  EXPECT_EQ(net(Tensor::of({3.0f})).item<float>(), 3);
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { net[0]; }), HasSubstr("there is no module 0"));
}

TEST(Sequential, GivesASliceThatSharesItsModules) {
  Sequential net{Dense(4), Dense(3), Dense(2)};
  net.initialize();
  net(Tensor::ones({1, 5}));
  Sequential body = net.slice(0, 2);
  EXPECT_EQ(body(Tensor::ones({1, 5})).shape(), (Shape{1, 3}));
  EXPECT_EQ(&body[1], &net[1]);
  EXPECT_THROW(net.slice(2, 4), Error);
}

TEST(Sequential, GivesAModuleAsItsType) {
  Sequential net{Dense(4), Sequential{Dense(1), Dense(1)}};
  EXPECT_EQ(net.at<Dense>(0).weight.shape()[0], 4);
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { net.at<Dense>(1); }),
              HasSubstr("module 1 is a Sequential"));
}

}  // namespace
}  // namespace thalweg::nn
