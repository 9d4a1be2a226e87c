#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/graph/function.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/plot.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/pointwise.h>

namespace thalweg::nn {
namespace {

using testing::HasSubstr;
using testing::Not;

// "from>to" of each edge.
std::set<std::string> edges_of(const Diagram& diagram) {
  std::set<std::string> edges;
  for (const DiagramEdge& edge : diagram.edges) edges.insert(edge.from + ">" + edge.to);
  return edges;
}

const DiagramNode& node_of(const Diagram& diagram, const std::string& id) {
  for (const DiagramNode& node : diagram.nodes) {
    if (node.id == id) return node;
  }
  throw std::out_of_range(id);
}

TEST(Plot, DrawsAChainWithShapesOfASampleOnItsArrows) {
  Sequential net{Conv2D(6, {.kernel = 5, .padding = 2}), MaxPool2D(), Flatten(), Dense(10)};
  net.initialize();
  const Diagram d = diagram(net, Tensor::zeros({2, 1, 28, 28}));
  EXPECT_EQ(edges_of(d), (std::set<std::string>{"input>0", "0>1", "1>2", "2>3"}));
  EXPECT_EQ(d.edges[0].label, "1 x 28 x 28");
  EXPECT_EQ(d.edges[3].label, "1176");
  EXPECT_EQ(node_of(d, "0").kind, "conv");
  EXPECT_EQ(node_of(d, "1").kind, "pool");
  EXPECT_EQ(node_of(d, "2").kind, "shape");
  EXPECT_EQ(node_of(d, "3").kind, "dense");
  EXPECT_EQ(node_of(d, "3").detail, "11,770 parameters");
  EXPECT_THAT(node_of(d, "3").label, HasSubstr("1176 -> 10"));
}

TEST(Plot, DrawsTheSumOfABranchAsAnOpWithBothArrows) {
  Sequential net{Dense(4), Residual(Sequential{Dense(4), Dense(4)}, relu), Dense(2)};
  net.initialize();
  const Diagram d = diagram(net, Tensor::zeros({1, 4}));
  EXPECT_EQ(edges_of(d),
            (std::set<std::string>{"input>0", "0>1.body.0", "1.body.0>1.body.1", "1.body.1>add 4",
                                   "0>add 4", "add 4>relu 5", "relu 5>2"}));
}

TEST(Plot, LeadsAShortcutPastALayerThatGivesBackItsInput) {
  Sequential net{Dense(4), Residual(Sequential{Dropout(0.5), Dense(4)})};
  net.initialize();
  EXPECT_EQ(edges_of(diagram(net, Tensor::zeros({1, 4}))),
            (std::set<std::string>{"input>0", "0>1.body.0", "1.body.0>1.body.1", "1.body.1>add 4",
                                   "0>add 4"}));
}

struct TwoTowers : Module {
  Dense left{3}, right{3}, out{1};
  void members(Members& m) override { m("left", left)("right", right)("out", out); }
  Tensor forward(const Tensor& x) override { return out(left(x) * right(x)); }
};

TEST(Plot, FollowsTheTensorsOfAUsersModule) {
  TwoTowers net;
  net.initialize();
  EXPECT_EQ(edges_of(diagram(net, Tensor::zeros({1, 4}))),
            (std::set<std::string>{"input>left", "input>right", "left>mul 3", "right>mul 3",
                                   "mul 3>out"}));
}

TEST(Plot, NamesTheSecondCallOfALayer) {
  Dense shared(3, {.in_units = 3});
  Sequential net;
  const auto layer = std::make_shared<Dense>(shared);
  net.add(layer).add(layer);
  net.initialize();
  EXPECT_EQ(edges_of(diagram(net, Tensor::zeros({1, 3}))),
            (std::set<std::string>{"input>0", "0>0 (2)"}));
}

struct Doubled : Function {
  std::vector<Tensor> forward(std::span<const Tensor> in) override { return {in[0] * 2}; }
  std::vector<Tensor> backward(std::span<const Tensor> g) override { return {g[0] * 2}; }
};

TEST(Plot, ShowsAFunctionWithAGradientOfItsOwn) {
  Sequential net{
      Dense(3),
      Lambda("double",
             [](const Tensor& x) { return thalweg::apply(std::make_shared<Doubled>(), {x})[0]; }),
      Dense(2)};
  net.initialize();
  EXPECT_EQ(edges_of(diagram(net, Tensor::zeros({1, 3}))),
            (std::set<std::string>{"input>0", "0>1", "1>2"}));
}

TEST(Plot, WritesDotInMxnetsColoursWithoutWeights) {
  Sequential net{Dense(4, {.in_units = 3}), BatchNorm(), Activation(relu)};
  net.initialize();
  const std::string dot = plot_network(net, {1, 3});
  EXPECT_THAT(dot, HasSubstr("\"input\" [label=\"input\", fillcolor=\"#8dd3c7\", shape=oval]"));
  EXPECT_THAT(dot, HasSubstr("\"0\" [label=\"Dense(3 -> 4, linear)\\n16 parameters\", "
                             "fillcolor=\"#fb8072\"]"));
  EXPECT_THAT(dot, HasSubstr("fillcolor=\"#bebada\""));
  EXPECT_THAT(dot, HasSubstr("fillcolor=\"#ffffb3\""));
  EXPECT_THAT(dot, HasSubstr("\"0\" -> \"1\" [label=\"4\"]"));
  EXPECT_THAT(dot, Not(HasSubstr("weight")));
}

TEST(Plot, WritesAnSvgFileOfItsOwn) {
  Sequential net{Dense(4, {.in_units = 3})};
  net.initialize();
  const std::string svg = plot_network(net, {1, 3}, {.format = PlotFormat::svg});
  EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\" id=", 0), 0u);
  EXPECT_THAT(svg, HasSubstr("<style>"));
  EXPECT_THAT(svg, HasSubstr("style=\"fill:#2b7bbb\""));
  EXPECT_THAT(svg, HasSubstr(">Dense(3 -&gt; 4, linear)</text>"));
}

TEST(Plot, LeavesNothingBehindInTheNet) {
  Sequential net{Dropout(0.5)};
  const Tensor x = Tensor::ones({1, 2});
  diagram(net, x);
  EXPECT_EQ(net(x).impl(), x.impl());
}

}  // namespace
}  // namespace thalweg::nn
