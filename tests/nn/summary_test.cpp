#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/nn/summary.h>

namespace thalweg::nn {
namespace {

TEST(Summary, CountsWhatAMultilayerPerceptronCosts) {
  Sequential net{Dense(64, {.activation = relu}), Dense(64, {.activation = relu}), Dense(10)};
  net.initialize();
  const NetSummary s = summarize(net, Shape{64, 784});
  ASSERT_EQ(s.layers.size(), 3u);
  EXPECT_EQ(s.layers[0].name, "0");
  EXPECT_EQ(s.layers[0].description, "Dense(784 -> 64, Activation(relu))");
  EXPECT_EQ(s.layers[0].output, (Shape{64, 64}));
  EXPECT_EQ(s.layers[0].parameters, 50240);
  EXPECT_EQ(s.layers[0].operations, 64 * 64 * (2 * 784 + 1 + 1));  // products, bias, relu
  EXPECT_EQ(s.parameters, 55050);
  EXPECT_EQ(s.parameter_bytes, 55050u * 4);
  EXPECT_EQ(s.output_bytes, 64u * (64 + 64 + 10) * 4);
  EXPECT_EQ(s.edges, (std::vector<LayerEdge>{{-1, 0}, {0, 1}, {1, 2}}));
}

TEST(Summary, CountsConvolutionsByTheirWindows) {
  Sequential net{Conv2D(6, {.kernel = 5, .padding = 2, .bias = false}), MaxPool2D(), Flatten()};
  net.initialize();
  const NetSummary s = summarize(net, Shape{1, 1, 28, 28});
  EXPECT_EQ(s.layers[0].operations, 2 * 6 * 28 * 28 * 25);
  EXPECT_EQ(s.layers[1].operations, 6 * 28 * 28);
  // Results of convolutions are channels last: to flatten them is to copy them.
  EXPECT_EQ(s.layers[2].operations, 6 * 14 * 14);
}

TEST(Summary, FindsTheEdgesOfABranch) {
  Sequential net{Dense(4), Residual(Sequential{Dense(4), Activation(relu)}), Dense(2)};
  net.initialize();
  const NetSummary s = summarize(net, Shape{1, 4});
  ASSERT_EQ(s.layers.size(), 4u);
  EXPECT_EQ(s.layers[2].name, "1.body.1");
  EXPECT_EQ(s.edges, (std::vector<LayerEdge>{{-1, 0}, {0, 1}, {1, 2}, {0, 3}, {2, 3}}));
  EXPECT_EQ(s.operations, 4 * 9 + 4 * 9 + 4 + 4 + 2 * 9);
}

TEST(Summary, CountsASharedLayerOnceAndFrozenOnesApart) {
  Dense shared(3, {.in_units = 3});
  Sequential net{shared, shared};
  net.initialize();
  shared.bias.set_grad_req(GradReq::null);
  const NetSummary s = summarize(net, Shape{1, 3});
  EXPECT_EQ(s.layers[0].parameters, 12);
  EXPECT_EQ(s.layers[0].trainable, 9);
  EXPECT_EQ(s.layers[1].parameters, 0);
  EXPECT_EQ(s.parameters, 12);
  EXPECT_EQ(s.trainable, 9);
  EXPECT_EQ(s.gradient_bytes, 36u);
}

TEST(Summary, IsATable) {
  Sequential net{Dense(64, {.activation = relu}), Dense(10)};
  net.initialize();
  EXPECT_EQ(summary(net, {1, 784}),
            "Layer                                  Output    Parameters  Operations\n"
            "-----------------------------------------------------------------------\n"
            "input                                  [1, 784]                        \n"
            "0  Dense(784 -> 64, Activation(relu))  [1, 64]       50,240       100 k\n"
            "1  Dense(64 -> 10, linear)             [1, 10]          650      1.29 k\n"
            "-----------------------------------------------------------------------\n"
            "Parameters: 50,890 (199 KiB; gradients 199 KiB)\n"
            "Operations: 102 k in one call; the layers' outputs take 296 B\n");
}

TEST(Summary, LeavesNothingBehindInTheNet) {
  Sequential net{Dense(2)};
  net.initialize();
  summarize(net, Shape{1, 2});
  EXPECT_FALSE(is_recording());
  EXPECT_EQ(net(Tensor::ones({1, 2})).shape(), (Shape{1, 2}));
}

}  // namespace
}  // namespace thalweg::nn
