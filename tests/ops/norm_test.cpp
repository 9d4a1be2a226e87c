#include <cmath>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/norm.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

// The arguments that a case of the fixtures names, in this order.
struct Case {
  const Json& c;
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  Tensor x, mean, var, w, b;

  Case(const Json& json, DType dtype) : c(json) {
    for (const auto& [name, tensor] : {std::pair<const char*, Tensor*>{"x", &x},
                                       {"mean", &mean},
                                       {"var", &var},
                                       {"w", &w},
                                       {"b", &b}}) {
      if (!c.contains(name) || c[name].is_null()) continue;
      *tensor = array(c[name], dtype).attach_grad();
      names.push_back(name);
      tensors.push_back(*tensor);
    }
  }

  Tensor run() const {
    const std::string op = c["op"];
    const double epsilon = c["epsilon"];
    if (op == "layer_norm") return layer_norm(x, w, b, {c["axis"], epsilon});
    if (op == "rms_norm") return rms_norm(x, w, {c["axis"], epsilon});
    if (op == "group_norm") return group_norm(x, w, b, {c["groups"], epsilon});
    return batch_norm(x, w, b, mean, var, {.epsilon = epsilon});
  }
  Mode mode() const { return mean.defined() ? Mode::prediction : Mode::training; }
};

TEST(Norms, AgreeWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("norm").items()) {
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      SCOPED_TRACE(name + " " + thalweg::name(dtype));
      const Case k(c, dtype);
      Tensor y;
      {
        Record record(k.mode());
        y = k.run();
      }
      y.backward(array(c["dy"], dtype));
      const double tolerance = tolerance_of(dtype) * (is_half(dtype) ? 10 : 1);
      expect_near(y, c["y"], tolerance);
      for (size_t i = 0; i < k.names.size(); ++i) {
        expect_near(k.tensors[i].grad(), c["d" + k.names[i]], tolerance);
      }
    }
  }
}

TEST(Norms, GiveSecondDerivativesAsPyTorch) {
  for (const auto& [name, c] : fixtures("norm").items()) {
    SCOPED_TRACE(name);
    const Case k(c, DType::f64);
    const Tensor dy = array(c["dy"]).attach_grad();
    Tensor y;
    {
      Record record(k.mode());
      y = k.run();
    }
    const std::vector<Tensor> grads =
        grad(std::span(&y, 1), k.tensors, std::span(&dy, 1), {.create_graph = true});
    Tensor total;
    {
      Record record;
      total = sum(square(grads[0]));
      for (size_t i = 1; i < grads.size(); ++i) total = total + sum(square(grads[i]));
    }
    total.backward();
    for (size_t i = 0; i < grads.size(); ++i) {
      expect_near(grads[i], c["d" + k.names[i]], 1e-9);
      expect_near(k.tensors[i].grad(), c["dd" + k.names[i]], 1e-7);
    }
    expect_near(dy.grad(), c["ddy"], 1e-7);
  }
}

Tensor train(const Tensor& x, const Tensor& mean, const Tensor& var) {
  const ModeScope training(Mode::training);
  return batch_norm(x, {}, {}, mean, var);
}

// ml-explore/mlx#3817, pytorch/pytorch#3122, #12013, apache/mxnet#14357, #9216
TEST(BatchNorm, KeepsRunningStatistics) {
  const Tensor mean = Tensor::zeros({1}), var = Tensor::ones({1});
  const Tensor y = train(Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {4, 1}), mean, var);
  expect_near(y, Tensor::of({-1.341635f, -.447212f, .447212f, 1.341635f}, {4, 1}), 1e-5);
  EXPECT_FLOAT_EQ(mean.item<float>(), .25f);
  EXPECT_FLOAT_EQ(var.item<float>(), 1.0666667f);

  const Tensor nothing = train(Tensor::zeros({0, 1}), mean, var);
  EXPECT_EQ(nothing.shape(), (Shape{0, 1}));
  EXPECT_FLOAT_EQ(mean.item<float>(), .25f);
  EXPECT_FLOAT_EQ(var.item<float>(), 1.0666667f);

  const Tensor one = train(Tensor::of({7.0f}, {1, 1, 1, 1}), mean, var);
  EXPECT_EQ(one.item<float>(), 0);
  EXPECT_FLOAT_EQ(mean.item<float>(), .925f);
  EXPECT_FLOAT_EQ(var.item<float>(), .96f);
}

TEST(BatchNorm, LeavesRunningStatisticsAloneInPrediction) {
  const Tensor mean = Tensor::of({1.0f}), var = Tensor::of({4.0f});
  const Tensor y = batch_norm(Tensor::of({3.0f, 5.0f}, {2, 1}), {}, {}, mean, var);
  expect_near(y, Tensor::of({1.0f, 2.0f}, {2, 1}), 1e-5);
  EXPECT_EQ(mean.item<float>(), 1);
  EXPECT_EQ(var.item<float>(), 4);
}

TEST(BatchNorm, KeepsChannelsLastAndGivesTheSameNumbers) {
  std::vector<float> values;
  for (int i = 0; i < 2 * 3 * 3 * 4; ++i) values.push_back(static_cast<float>(i * i % 17));
  const Tensor x = permute(Tensor::of(values, {2, 3, 3, 4}), {0, 3, 1, 2});
  const Tensor y = batch_norm(x, {}, {}, {}, {});
  EXPECT_EQ(y.strides(), x.strides());
  // Statistics of the two layouts are sums in different orders.
  expect_near(y, batch_norm(x.clone(), {}, {}, {}, {}), 1e-6);
  EXPECT_EQ(group_norm(x, {}, {}, {.groups = 2}).strides(), x.strides());
}

TEST(BatchNorm, ComputesHalvesWithStatisticsInF32) {
  const Tensor x = Tensor::of({1000.0f, 1001.0f, 1002.0f, 1003.0f}, {4, 1}).to(DType::f16);
  const Tensor weight = Tensor::full({1}, 2), mean = Tensor::zeros({1}), var = Tensor::ones({1});
  const ModeScope training(Mode::training);
  const Tensor y = batch_norm(x, weight, {}, mean, var);
  EXPECT_EQ(y.dtype(), DType::f16);
  expect_near(y, Tensor::of({-2.6833f, -.8944f, .8944f, 2.6833f}, {4, 1}), 2e-3);
  EXPECT_FLOAT_EQ(mean.item<float>(), 100.15f);
}

TEST(BatchNorm, RecordsWithoutItsRunningStatistics) {
  const Tensor x = Tensor::of({1.0f, 2.0f, 4.0f}, {3, 1}).attach_grad();
  const Tensor mean = Tensor::zeros({1}), var = Tensor::ones({1});
  Tensor y;
  {
    Record record;
    y = sum(square(batch_norm(x, {}, {}, mean, var)));
  }
  y.backward();
  EXPECT_GT(mean.item<float>(), 0);
  expect_near(x.grad(), Tensor::of({0.0f, 0.0f, 0.0f}, {3, 1}), 1e-4);
}

TEST(Norms, RefuseArgumentsThatDoNotFit) {
  const Tensor x = Tensor::ones({2, 4, 3}), w = Tensor::ones({3}), no;
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { batch_norm(x, w, no, no, no); }),
            "batch_norm: input 1 of (x, weight?, bias?) has shape [3] for x of shape [2, 4, 3]; "
            "expected [4]");
  EXPECT_THROW(batch_norm(x, no, no, w, no), Error);
  EXPECT_THROW(batch_norm(Tensor::ones({4}), no, no, no, no), Error);
  EXPECT_THROW(batch_norm(x, no, no, no, no, {.momentum = 2}), Error);
  EXPECT_THROW(layer_norm(x, w.to(DType::f64), no), Error);
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { group_norm(x, no, no, {.groups = 3}); }),
            "group_norm: 3 groups do not divide the 4 channels of x of shape [2, 4, 3]");
  EXPECT_THROW(rms_norm(x, Tensor::ones({4})), Error);
}

TEST(Norms, RefuseANegativeEpsilon) {
  const Tensor x = Tensor::ones({2, 3});
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { layer_norm(x, {}, {}, {.epsilon = -1}); }),
            "layer_norm: epsilon is -1; it must not be negative");
  EXPECT_THROW(rms_norm(x, {}, {.epsilon = std::nan("")}), Error);
  EXPECT_THROW(group_norm(x, {}, {}, {.epsilon = -1}), Error);
  EXPECT_THROW(batch_norm(x, {}, {}, {}, {}, {.epsilon = -1}), Error);
}

}  // namespace
}  // namespace thalweg
