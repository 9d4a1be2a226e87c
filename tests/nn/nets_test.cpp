// A training step of whole nets, from PyTorch's parameters: outputs, gradients and statistics are
// PyTorch's.

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/reduce.h>

#include "ops/fixture.h"

namespace thalweg::nn {
namespace {

constexpr double kTolerance = 1e-9;

void check_step(const char* name, Sequential net, DType input_dtype = DType::f64) {
  const Json& expected = fixtures("nets").at(name);
  net.cast(DType::f64);
  net.initialize();
  const ParameterList parameters = net.parameters();
  for (const NamedParameter& item : parameters.trainable()) {
    item.parameter.set_data(array(expected.at("parameter " + item.name)));
  }
  Tensor y, total;
  {
    Record record;
    y = net(array(expected.at("x"), input_dtype));
    total = sum(y * array(expected.at("head")));
  }
  total.backward();
  expect_near(y, expected.at("y"), kTolerance);
  for (const NamedParameter& item : parameters) {
    SCOPED_TRACE(item.name);
    if (item.parameter.differentiable()) {
      expect_near(item.parameter.grad(), expected.at("gradient " + item.name), kTolerance);
    } else {
      expect_near(item.parameter.data(), expected.at("running " + item.name), kTolerance);
    }
  }
}

TEST(Nets, OfConvolutionAndBatchNormStepAsPyTorchs) {
  check_step("images", Sequential{Conv2D(4, {.kernel = 3, .stride = 2, .padding = 1}), BatchNorm(),
                                  Activation(gelu), MaxPool2D(), Flatten(), Dense(3)});
}

TEST(Nets, OfTransposedConvolutionAndGroupNormStepAsPyTorchs) {
  check_step(
      "signal",
      Sequential{ConvTranspose1D(4, {.kernel = 3, .stride = 2, .output_padding = 1, .groups = 2}),
                 GroupNorm(2), PReLU({.channels = 4}),
                 Conv1D(2, {.kernel = 2, .dilation = 2, .bias = false})});
}

TEST(Nets, OfEmbeddingAndLayerNormStepAsPyTorchs) {
  check_step("words", Sequential{Embedding(5, 4), LayerNorm(), Dense(3), ELU(0.5)}, DType::i64);
}

}  // namespace
}  // namespace thalweg::nn
