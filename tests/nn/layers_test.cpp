#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>

#include "base/expect_error.h"

namespace thalweg::nn {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Sequential lenet() {
  return Sequential{Conv2D(6, {.kernel = 5, .padding = 2, .activation = tanh}),
                    AvgPool2D({.kernel = 2}),
                    Conv2D(16, {.kernel = 5, .activation = tanh}),
                    AvgPool2D({.kernel = 2}),
                    Flatten(),
                    Dense(120, {.activation = tanh}),
                    Dense(84, {.activation = tanh}),
                    Dense(10)};
}

TEST(Lambda, RefusesAnEmptyFunction) {
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { Lambda("none", nullptr); }),
            "Lambda: the function of 'none' is empty");
}

TEST(Layers, InferEverySizeOfLeNet) {
  Sequential net = lenet();
  net.initialize();
  EXPECT_EQ(net(Tensor::ones({2, 1, 28, 28})).shape(), (Shape{2, 10}));
  EXPECT_EQ(net.parameters()["0.weight"].shape(), (Shape{6, 1, 5, 5}));
  EXPECT_EQ(net.parameters()["5.weight"].shape(), (Shape{120, 400}));
  EXPECT_EQ(net.parameters().element_count(), 61706);
}

TEST(Conv, HasItsWeightsShapeForEveryNumberOfAxes) {
  Conv1D one(4, {.kernel = 3, .groups = 2});
  Conv3D three(4, {.kernel = {1, 2, 3}, .bias = false});
  ConvTranspose2D back(4, {.kernel = 2, .stride = 2, .groups = 2});
  for (Module* layer : std::initializer_list<Module*>{&one, &three, &back}) layer->initialize();
  EXPECT_EQ(one(Tensor::ones({1, 6, 9})).shape(), (Shape{1, 4, 7}));
  EXPECT_EQ(one.weight.shape(), (Shape{4, 3, 3}));
  EXPECT_EQ(three(Tensor::ones({1, 2, 3, 3, 3})).shape(), (Shape{1, 4, 3, 2, 1}));
  EXPECT_EQ(back(Tensor::ones({1, 6, 3, 3})).shape(), (Shape{1, 4, 6, 6}));
  EXPECT_EQ(back.weight.shape(), (Shape{6, 2, 2, 2}));
}

TEST(Conv, SumsWindowsOfOnes) {
  Conv2D layer(1, {.kernel = 3, .padding = 1, .weight_init = init::one()});
  layer.initialize();
  EXPECT_EQ(layer(Tensor::ones({1, 1, 3, 3})).to_vector<float>(),
            (std::vector<float>{4, 6, 4, 6, 9, 6, 4, 6, 4}));
}

TEST(Conv, RefusesOptionsThatMakeNoSense) {
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { Conv2D(4, {}); }), HasSubstr("Conv2D: kernel"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { Conv2D(4, {.kernel = 0}); }),
              HasSubstr("Conv2D: kernel sizes must be positive"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { Conv2D(4, {.kernel = 3, .groups = 3}); }),
              HasSubstr("Conv2D: channels 4 cannot be cut into 3 groups"));
  Sequential net{Conv2D(4, {.kernel = 3})};
  net.initialize();
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           net(Tensor::ones({2, 28, 28}));
                         }),
              EndsWith("Conv2D: input has 3 dimensions; [2, 28, 28]; expected [N, C, H, W], in 0 "
                       "(Conv2D)"));
}

TEST(Pool, CutsAndFolds) {
  const Tensor x = Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {1, 1, 2, 2});
  EXPECT_EQ(MaxPool2D()(x).to_vector<float>(), std::vector<float>{4});
  EXPECT_EQ(AvgPool2D()(x).to_vector<float>(), std::vector<float>{2.5});
  EXPECT_EQ(GlobalAvgPool2D()(x).shape(), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(GlobalMaxPool2D()(x).item<float>(), 4);
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { GlobalAvgPool1D()(x); }),
              HasSubstr("expected [N, C, W]"));
}

TEST(Dropout, ActsWhileTrainingOnly) {
  Dropout layer(0.5);
  const Tensor x = Tensor::ones({1000});
  EXPECT_EQ(layer(x).to_vector<float>(), x.to_vector<float>());
  int zeros = 0;
  Record record;
  for (float v : layer(x).to_vector<float>()) {
    EXPECT_TRUE(v == 0 || v == 2);
    zeros += v == 0;
  }
  EXPECT_NEAR(zeros, 500, 60);
  EXPECT_THROW(Dropout(1), Error);
}

TEST(Dropout, DropsWholeChannelsWithSharedAxes) {
  Dropout layer(0.5, {.shared_axes = {2}});
  Record record;
  const auto y = layer(Tensor::ones({8, 8, 3})).to_vector<float>();
  for (size_t i = 0; i < y.size(); i += 3) {
    EXPECT_EQ(y[i], y[i + 1]);
    EXPECT_EQ(y[i], y[i + 2]);
  }
}

TEST(Embedding, TakesARowForEachIndex) {
  Embedding layer(3, 2);
  layer.initialize();
  layer.weight.set_data(Tensor::of({0.0f, 1.0f, 10.0f, 11.0f, 20.0f, 21.0f}, {3, 2}));
  const Tensor y = layer(Tensor::of({int64_t{2}, int64_t{0}}, {1, 2}));
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{20, 21, 0, 1}));
  EXPECT_THROW(layer(Tensor::of({int64_t{3}})), Error);
}

TEST(Residual, AddsItsInputOrAShortcut) {
  Residual plain(Lambda("twice", [](const Tensor& x) { return 2 * x; }), relu);
  EXPECT_EQ(plain(Tensor::of({1.0f, -1.0f})).to_vector<float>(), (std::vector<float>{3, 0}));
  Residual other(Dense(2), Dense(2));
  EXPECT_TRUE(other.parameters().contains("shortcut.weight"));
}

TEST(Layers, DescribeThemselves) {
  EXPECT_EQ(Conv2D(64, {.kernel = 3, .padding = 1, .activation = relu}).describe(),
            "Conv2D(None -> 64, kernel=(3, 3), stride=(1, 1), padding=(1, 1), Activation(relu))");
  EXPECT_EQ(Conv1D(8, {.kernel = 3, .groups = 2, .bias = false, .in_channels = 4}).describe(),
            "Conv1D(4 -> 8, kernel=(3), stride=(1), groups=2, bias=false)");
  EXPECT_EQ(ConvTranspose2D(4, {.kernel = 2, .stride = {2, 3}, .in_channels = 6}).describe(),
            "ConvTranspose2D(6 -> 4, kernel=(2, 2), stride=(2, 3))");
  EXPECT_EQ(MaxPool2D({.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true}).describe(),
            "MaxPool2D(kernel=(3, 3), stride=(2, 2), padding=(1, 1), ceil_mode=true)");
  EXPECT_EQ(Dropout(0.5).describe(), "Dropout(0.5)");
  EXPECT_EQ(Embedding(10, 4).describe(), "Embedding(10 -> 4, f32)");
  EXPECT_EQ(Flatten().describe(), "Flatten()");
}

}  // namespace
}  // namespace thalweg::nn
