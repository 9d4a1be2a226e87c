#include <cstring>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>

namespace thalweg::nn {
namespace {

Sequential make_net() {
  Sequential net{Conv2D(4, {.kernel = 3, .activation = relu}),
                 BatchNorm(),
                 MaxPool2D({.kernel = 2}),
                 Flatten(),
                 Dropout(0.5),
                 Dense(3)};
  net.initialize(init::xavier(), {.seed = 4});
  return net;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.impl()->data, b.impl()->data, static_cast<size_t>(a.size()) * 4) == 0;
}

TEST(Hybridize, GivesTheBitsOfTheEagerNetForEachShape) {
  Sequential eager = make_net(), net = make_net();
  net.hybridize();
  for (int i = 0; i < 6; ++i) {
    for (const int64_t n : {1, 5}) {
      const Tensor x = random_normal({n, 2, 8, 8});
      EXPECT_TRUE(same_bits(net(x), eager(x)));
    }
  }
  EXPECT_NE(net.explain_plan().find("2 plans made"), std::string::npos) << net.explain_plan();
}

TEST(Hybridize, GivesGradientsInsideARecordScopeAndGoesOnAfterIt) {
  Sequential eager = make_net(), net = make_net();
  net.hybridize();
  const Tensor x = random_normal({2, 2, 8, 8});
  for (int i = 0; i < 4; ++i) net(x);
  eager(x);
  for (Sequential* n : {&eager, &net}) {
    Tensor y;
    {
      const Record record(Mode::prediction);
      y = sum(square((*n)(x)));
    }
    y.backward();
    for (const NamedParameter& p : n->parameters()) {
      if (p.parameter.grad_req() == GradReq::null) continue;
      const Pause pause;
      p.parameter.data() -= 0.5 * p.parameter.grad();
    }
  }
  EXPECT_TRUE(same_bits(net(x), eager(x)));
}

TEST(Hybridize, FollowsParametersThatAreSetOrConverted) {
  Sequential net = make_net();
  net.hybridize();
  const Tensor x = random_normal({2, 2, 8, 8});
  for (int i = 0; i < 4; ++i) net(x);
  const Parameter bias = net.parameters()["5.bias"];
  bias.set_data(Tensor::full({3}, 7));
  Sequential eager = make_net();
  eager(x);
  eager.parameters()["5.bias"].set_data(Tensor::full({3}, 7));
  EXPECT_TRUE(same_bits(net(x), eager(x)));
  net.cast(DType::f64);
  const Tensor wide = x.to(DType::f64);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(net(wide).dtype(), DType::f64);
}

TEST(Hybridize, AnErrorNamesTheLayer) {
  Sequential net = make_net();
  net.hybridize();
  const Tensor x = random_normal({2, 2, 8, 8});
  for (int i = 0; i < 4; ++i) net(x);
  try {
    net(random_normal({2, 3, 8, 8}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("in 0 (Conv2D)"), std::string::npos) << error.what();
  }
}

TEST(Hybridize, ANetThatLooksAtElementsRunsEagerlyAndItsLayersAreStillPlanned) {
  Sequential net{Dense(4), Lambda("by_sign", [](const Tensor& x) {
                   return sum(x).item<float>() > 0 ? x : -x;
                 })};
  net.initialize();
  net.hybridize();
  for (int i = 0; i < 20; ++i) {
    const Tensor x = random_normal({2, 3});
    EXPECT_GE(sum(net(x)).item<float>(), 0);
  }
  EXPECT_NE(net.explain_plan().find("the host looks at the elements"), std::string::npos);
}

TEST(Hybridize, ACopyIsNotPlannedAndUnhybridizeUndoesIt) {
  Sequential net = make_net();
  net.hybridize();
  EXPECT_EQ(Sequential(net).explain_plan(), "not hybridized\n");
  net.unhybridize();
  EXPECT_EQ(net.explain_plan(), "not hybridized\n");
}

TEST(Hybridize, HooksThatAreAddedLaterRun) {
  Sequential net = make_net();
  net.hybridize();
  const Tensor x = random_normal({2, 2, 8, 8});
  for (int i = 0; i < 4; ++i) net(x);
  int outer = 0, inner = 0;
  const Hook count_outer = [&](Module&, std::span<const Tensor>, Tensor&) { ++outer; };
  {
    const HookHandle hook = net.add_hook(count_outer);
    HookHandle layer_hook;
    net.walk([&](const std::string& path, Module& module) {
      if (path == "5")
        layer_hook = module.add_hook([&](Module&, std::span<const Tensor>, Tensor&) { ++inner; });
    });
    for (int i = 0; i < 9; ++i) net(x);
  }
  EXPECT_EQ(outer, 9);
  EXPECT_EQ(inner, 9);
  for (int i = 0; i < 4; ++i) net(x);
  EXPECT_EQ(inner, 9);
}

}  // namespace
}  // namespace thalweg::nn
