#include <gtest/gtest.h>

#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>

namespace thalweg::nn {
namespace {

TEST(Hooks, SeeInputsAndOutputsInOrder) {
  Sequential net{Dense(2), Activation(relu)};
  net.initialize();
  std::vector<std::string> seen;
  const HookHandle before = net[1].add_pre_hook([&](Module& m, std::span<const Tensor> inputs) {
    seen.push_back("before " + m.type_name() + to_string(inputs[0].shape()));
  });
  const HookHandle after = net[1].add_hook([&](Module&, std::span<const Tensor>, Tensor& y) {
    seen.push_back("after " + to_string(y.shape()));
  });
  net(Tensor::ones({3, 5}));
  EXPECT_EQ(seen, (std::vector<std::string>{"before Activation[3, 2]", "after [3, 2]"}));
}

TEST(Hooks, MayReplaceTheOutput) {
  Activation layer(relu);
  const HookHandle handle = layer.add_hook(
      [](Module&, std::span<const Tensor>, Tensor& y) { y = Tensor::zeros(y.shape()); });
  EXPECT_EQ(layer(Tensor::of({5.0f})).item<float>(), 0);
}

TEST(Hooks, EndWithTheirHandle) {
  Activation layer(relu);
  int calls = 0;
  {
    const HookHandle handle =
        layer.add_hook([&](Module&, std::span<const Tensor>, Tensor&) { ++calls; });
    layer(Tensor::of({1.0f}));
  }
  layer(Tensor::of({1.0f}));
  EXPECT_EQ(calls, 1);
}

TEST(Hooks, MayDetachThemselvesWhileTheyRun) {
  Activation layer(relu);
  int calls = 0;
  HookHandle handle;
  handle = layer.add_hook([&](Module&, std::span<const Tensor>, Tensor&) {
    ++calls;
    handle.detach();
  });
  layer(Tensor::of({1.0f}));
  layer(Tensor::of({1.0f}));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace thalweg::nn
