#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/reduce.h>

#include "base/expect_error.h"

namespace thalweg::nn {
namespace {

using testing::HasSubstr;

TEST(Parameter, HasTheSameFirstValuesHoweverLateItsShapeBecomesKnown) {
  Sequential known{Dense(4, {.in_units = 6}), Dense(3, {.in_units = 4})};
  Sequential deferred{Dense(4), Dense(3)};
  known.initialize(init::xavier(), {.seed = 7});
  deferred.initialize(init::xavier(), {.seed = 7});
  reserve_random(100);
  deferred(Tensor::ones({1, 6}));
  for (const NamedParameter& item : known.parameters()) {
    EXPECT_EQ(item.parameter.data().to_vector<float>(),
              deferred.parameters()[item.name].data().to_vector<float>())
        << item.name;
  }
}

TEST(Parameter, HasOtherFirstValuesUnderAnotherNameSeedOrCall) {
  Sequential a{Dense(4, {.in_units = 4}), Dense(4, {.in_units = 4})};
  manual_seed(1);
  a.initialize();
  const auto first = a.parameters()["0.weight"].data().to_vector<float>();
  EXPECT_NE(first, a.parameters()["1.weight"].data().to_vector<float>());
  a.initialize(init::xavier(), {.reset = true});
  EXPECT_NE(first, a.parameters()["0.weight"].data().to_vector<float>());
  manual_seed(1);
  a.initialize(init::xavier(), {.reset = true});
  EXPECT_EQ(first, a.parameters()["0.weight"].data().to_vector<float>());
}

TEST(Parameter, KeepsItsValuesUnlessResetIsAskedFor) {
  Dense layer(2, {.in_units = 2, .weight_init = init::constant(3)});
  layer.initialize();
  layer.weight.set_data(Tensor::ones({2, 2}));
  layer.initialize();
  EXPECT_EQ(layer.weight.data().to_vector<float>(), std::vector<float>(4, 1));
  layer.initialize(init::zero(), {.reset = true});
  EXPECT_EQ(layer.weight.data().to_vector<float>(), std::vector<float>(4, 3));
}

TEST(Parameter, PrefersItsOwnInitializer) {
  Dense layer(2, {.in_units = 2});
  layer.initialize(init::constant(2));
  EXPECT_EQ(layer.weight.data().to_vector<float>(), std::vector<float>(4, 2));
  EXPECT_EQ(layer.bias.data().to_vector<float>(), std::vector<float>(2, 0));
}

TEST(Parameter, SaysThatASizeIsUnknown) {
  Dense layer(2);
  layer.initialize();
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { layer.weight.data(); }),
              HasSubstr("Parameter: weight of shape [2, 0] has no values yet"));
}

TEST(Parameter, RefusesAnInputThatContradictsAKnownSize) {
  Parameter p({3, 0});
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           p.infer_shape({4, 2});
                         }),
              HasSubstr("has shape [3, 0], but the input asks for [4, 2]"));
}

TEST(Parameter, TakesDataOfItsShapeAndDtypeOnly) {
  Dense layer(2);
  layer.weight.set_data(Tensor::ones({2, 5}));
  EXPECT_EQ(layer.weight.shape(), (Shape{2, 5}));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           layer.weight.set_data(Tensor::ones({2, 4}));
                         }),
              HasSubstr("of shape [2, 5] f32 cannot take values of shape [2, 4] f32"));
  EXPECT_THROW(layer.weight.set_data(Tensor::ones({2, 5}, {.dtype = DType::f64})), Error);
}

TEST(Parameter, DropsItsGradientWithGradReqNull) {
  Dense layer(1, {.in_units = 1});
  layer.initialize(init::one());
  layer.weight.set_grad_req(GradReq::null);
  Tensor loss;
  {
    Record record;
    loss = sum(layer(Tensor::of({2.0f}, {1, 1})));
  }
  loss.backward();
  EXPECT_EQ(layer.bias.grad().item<float>(), 1);
  EXPECT_THROW(layer.weight.grad(), Error);
}

TEST(Parameter, NeverGetsAGradientWhenNotDifferentiable) {
  const Parameter p({2}, {.init = init::zero(), .differentiable = false});
  p.set_grad_req(GradReq::write);
  EXPECT_EQ(p.grad_req(), GradReq::null);
}

TEST(ParameterList, RefusesABrokenRegularExpression) {
  Dense layer(2);
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { layer.parameters("("); }),
              HasSubstr("'(' is no regular expression"));
}

}  // namespace
}  // namespace thalweg::nn
