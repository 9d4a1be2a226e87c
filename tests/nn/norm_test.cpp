#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/reduce.h>

#include "base/expect_error.h"

namespace thalweg::nn {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<std::string> names_of(Module& module) {
  std::vector<std::string> names;
  for (const NamedParameter& item : module.parameters()) names.push_back(item.name);
  return names;
}

// ml-explore/mlx#3817, pytorch/pytorch#3122 and #12013: values by PyTorch.
TEST(BatchNorm, UpdatesItsRunningStatisticsWhileTraining) {
  BatchNorm layer;
  layer.initialize();
  const Tensor x = Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {4, 1});
  Tensor y;
  {
    Record record;
    y = layer(x);
  }
  EXPECT_THAT(y.to_vector<float>(),
              Pointwise(FloatNear(1e-5f), {-1.341635f, -0.447212f, 0.447212f, 1.341635f}));
  EXPECT_FLOAT_EQ(layer.running_mean.data().item<float>(), 0.25f);
  EXPECT_FLOAT_EQ(layer.running_var.data().item<float>(), 0.9f + 0.1f * 5 / 3);
}

TEST(BatchNorm, TakesItsRunningStatisticsInPrediction) {
  BatchNorm layer({.epsilon = 0});
  layer.initialize();
  layer.running_mean.set_data(Tensor::of({1.0f}));
  layer.running_var.set_data(Tensor::of({4.0f}));
  EXPECT_EQ(layer(Tensor::of({5.0f, 1.0f}, {2, 1})).to_vector<float>(), (std::vector<float>{2, 0}));
  EXPECT_EQ(layer.running_mean.data().item<float>(), 1);
}

TEST(BatchNorm, LeavesItsRunningStatisticsAloneWhenToldSo) {
  BatchNorm layer({.epsilon = 0, .use_running = true});
  layer.initialize();
  Record record;
  EXPECT_EQ(layer(Tensor::of({5.0f, 1.0f}, {2, 1})).to_vector<float>(), (std::vector<float>{5, 1}));
  EXPECT_EQ(layer.running_mean.data().item<float>(), 0);
  EXPECT_TRUE(is_training());
}

TEST(BatchNorm, TrainsGammaAndBetaOnly) {
  BatchNorm layer;
  layer.initialize();
  layer(Tensor::ones({2, 3, 4, 4}));
  EXPECT_THAT(names_of(layer), ElementsAre("gamma", "beta", "running_mean", "running_var"));
  EXPECT_EQ(layer.parameters().trainable().size(), 2u);
  layer.unfreeze();
  EXPECT_EQ(layer.parameters().trainable().size(), 2u);
  EXPECT_EQ(layer.running_var.shape(), (Shape{3}));
}

TEST(NormLayers, StayF32InAHalfNet) {
  Sequential net{BatchNorm({.channels = 3}), LayerNorm()};
  net.initialize();
  net.cast(DType::bf16);
  EXPECT_EQ(net.parameters()["0.gamma"].dtype(), DType::f32);
  net.cast(DType::f64);
  EXPECT_EQ(net.parameters()["1.beta"].dtype(), DType::f64);
}

// By hand: (1, 3) has mean 2 and variance 1, mean square 5.
TEST(NormLayers, NormalizeWhatTheyAreNamedAfter) {
  const Tensor x = Tensor::of({1.0f, 3.0f, 2.0f, 6.0f}, {1, 2, 2});
  LayerNorm layer({.epsilon = 0});
  InstanceNorm instance({.epsilon = 0});
  GroupNorm group(1, {.epsilon = 0});
  RMSNorm rms({.epsilon = 0});
  for (Module* m : std::initializer_list<Module*>{&layer, &instance, &group, &rms}) m->initialize();
  EXPECT_EQ(layer(x).to_vector<float>(), (std::vector<float>{-1, 1, -1, 1}));
  EXPECT_EQ(instance(x).to_vector<float>(), (std::vector<float>{-1, 1, -1, 1}));
  EXPECT_THAT(group(x).to_vector<float>(),
              Pointwise(FloatNear(1e-6f), {-1.0690450f, 0.0f, -0.5345225f, 1.6035675f}));
  EXPECT_THAT(rms(x).to_vector<float>(),
              Pointwise(FloatNear(1e-6f), {0.4472136f, 1.3416408f, 0.4472136f, 1.3416408f}));
  EXPECT_THAT(names_of(rms), ElementsAre("gamma"));
}

TEST(NormLayers, TakeTheShapeOfTheLastAxes) {
  LayerNorm layer({.axes = 2});
  layer.initialize();
  layer(Tensor::ones({5, 4, 3}));
  EXPECT_EQ(layer.gamma.shape(), (Shape{4, 3}));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { LayerNorm({.axes = 0}); }),
              HasSubstr("LayerNorm: axes must be from 1 to 8; 0"));
}

TEST(NormLayers, DescribeThemselves) {
  EXPECT_EQ(BatchNorm().describe(), "BatchNorm(channels=None, epsilon=1e-05, momentum=0.9)");
  EXPECT_EQ(LayerNorm({.center = false}).describe(),
            "LayerNorm(axes=1, epsilon=1e-05, center=false)");
  EXPECT_EQ(GroupNorm(2, {.channels = 4}).describe(),
            "GroupNorm(groups=2, channels=4, epsilon=1e-05)");
}

}  // namespace
}  // namespace thalweg::nn
