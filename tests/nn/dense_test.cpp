#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/nn/dense.h>

#include "base/expect_error.h"

namespace thalweg::nn {
namespace {

using testing::HasSubstr;

Dense counting_dense(DenseOptions options) {
  Dense layer(2, std::move(options));
  layer.initialize();
  layer.weight.set_data(Tensor::of({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3}));
  return layer;
}

TEST(Dense, MultipliesByTheTransposedWeightAndAddsTheBias) {
  Dense layer = counting_dense({.bias_init = init::constant(10)});
  EXPECT_EQ(layer(Tensor::of({1.0f, 0.0f, -1.0f}, {1, 3})).to_vector<float>(),
            (std::vector<float>{8, 8}));
}

TEST(Dense, AppliesItsActivation) {
  Dense layer = counting_dense({.activation = relu, .bias = false});
  EXPECT_EQ(layer(Tensor::of({1.0f, 0.0f, -1.0f, -1.0f, 0.0f, 1.0f}, {2, 3})).to_vector<float>(),
            (std::vector<float>{0, 0, 2, 2}));
}

TEST(Dense, ActsOnTheLastAxisUnlessToldToFlatten) {
  Dense last = counting_dense({});
  EXPECT_EQ(last(Tensor::ones({4, 5, 3})).shape(), (Shape{4, 5, 2}));
  Dense all(2, {.flatten = true});
  all.initialize();
  EXPECT_EQ(all(Tensor::ones({4, 5, 3})).shape(), (Shape{4, 2}));
  EXPECT_EQ(all.weight.shape(), (Shape{2, 15}));
}

TEST(Dense, RefusesNoUnits) {
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { Dense(0); }),
              HasSubstr("Dense: units must be positive; 0"));
}

TEST(Dense, DescribesItself) {
  EXPECT_EQ(Dense(64, {.activation = tanh, .in_units = 784}).describe(),
            "Dense(784 -> 64, Activation(tanh))");
  EXPECT_EQ(Dense(10, {.bias = false}).describe(), "Dense(None -> 10, linear, bias=false)");
}

TEST(Activation, IsFoundByName) {
  EXPECT_EQ(activation("softrelu").apply, softplus.apply);
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { activation("rleu"); }),
              HasSubstr("did you mean 'relu'?"));
}

TEST(PReLU, LearnsASlopeForEachChannel) {
  PReLU layer({.channels = 2});
  layer.initialize();
  layer.alpha.set_data(Tensor::of({0.5f, 0.25f}));
  const Tensor x = Tensor::of({-4.0f, 4.0f, -4.0f, 4.0f}, {1, 2, 2});
  EXPECT_EQ(layer(x).to_vector<float>(), (std::vector<float>{-2, 4, -1, 4}));
}

}  // namespace
}  // namespace thalweg::nn
