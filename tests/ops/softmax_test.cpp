#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  const Json& c;
  Tensor x, label, weight;

  Case(const Json& json, DType dtype) : c(json), x(array(c["x"], dtype)) {
    const bool sparse = c.contains("dense") && !c["dense"].get<bool>();
    if (c.contains("label")) label = array(c["label"], sparse ? DType::i32 : dtype);
    if (c.contains("weight")) weight = array(c["weight"], dtype);
  }

  Tensor run() const {
    const std::string op = c["op"];
    if (op == "softmax") return softmax(x, c["axis"]);
    if (op == "log_softmax") return log_softmax(x, c["axis"]);
    if (op == "sigmoid_cross_entropy") return sigmoid_cross_entropy(x, label, weight);
    SoftmaxCrossEntropyOptions o{c["axis"], c["smoothing"], kNoIgnoredLabel, weight};
    if (!c["ignore"].is_null()) o.ignore_label = c["ignore"];
    return softmax_cross_entropy(x, label, o);
  }
};

TEST(Softmax, AndItsLossesAgreeWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("softmax").items()) {
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      SCOPED_TRACE(name + " " + thalweg::name(dtype));
      const Case k(c, dtype);
      k.x.attach_grad();
      Tensor y;
      {
        Record record;
        y = k.run();
      }
      y.backward(array(c["dy"], dtype));
      const double tolerance = tolerance_of(dtype) * (is_half(dtype) ? 2 : 1);
      expect_near(y, c["y"], tolerance);
      expect_near(k.x.grad(), c["dx"], tolerance);
    }
  }
}

TEST(Softmax, AndItsLossesGiveSecondDerivativesAsPyTorch) {
  for (const auto& [name, c] : fixtures("softmax").items()) {
    SCOPED_TRACE(name);
    const Case k(c, DType::f64);
    const Tensor dy = array(c["dy"]).attach_grad();
    const std::vector<std::pair<const char*, Tensor>> all{
        {"x", k.x}, {"label", k.label}, {"weight", k.weight}};
    std::vector<Tensor> variables;
    std::vector<std::string> names;
    for (const auto& [variable, tensor] : all) {
      if (!c.contains(std::string("d") + variable)) continue;
      variables.push_back(tensor.attach_grad());
      names.push_back(variable);
    }
    Tensor y;
    {
      Record record;
      y = k.run();
    }
    const std::vector<Tensor> grads =
        grad(std::span(&y, 1), variables, std::span(&dy, 1), {.create_graph = true});
    Tensor total;
    {
      Record record;
      total = sum(square(grads[0]));
      for (size_t i = 1; i < grads.size(); ++i) total = total + sum(square(grads[i]));
    }
    total.backward();
    for (size_t i = 0; i < grads.size(); ++i) {
      expect_near(grads[i], c["d" + names[i]], 1e-9);
      expect_near(variables[i].grad(), c["dd" + names[i]], 1e-9);
    }
    expect_near(dy.grad(), c["ddy"], 1e-9);
  }
}

TEST(Softmax, GivesZerosAndNoGradientForARowThatIsAllMasked) {
  const Tensor x = Tensor::of({-kInf, -kInf, 0.0f, -kInf}, {2, 2}).attach_grad();
  Tensor y;
  {
    Record record;
    y = softmax(x);
  }
  y.backward(Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 0, 1, 0}));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(log_softmax(x).to_vector<float>(), (std::vector<float>{-kInf, -kInf, 0, -kInf}));
}

TEST(Softmax, DoesNotOverflow) {
  expect_near(softmax(Tensor::of({1e4f, 1e4f, -1e4f})), Tensor::of({0.5f, 0.5f, 0.0f}), 1e-6);
  expect_near(log_softmax(Tensor::of({1000.0f, 0.0f})), Tensor::of({0.0f, -1000.0f}), 1e-6);
}

TEST(Softmax, KeepsDenseStrides) {
  const Tensor x = permute(Tensor::ones({2, 4, 4, 3}), {0, 3, 1, 2});
  EXPECT_EQ(softmax(x, 1).strides(), x.strides());
  EXPECT_THROW(softmax(x, 4), Error);
  EXPECT_THROW(softmax(Tensor::ones({2}, {DType::i32})), Error);
}

// MXNet takes label -1 for class 0 and label >= C for the last one.
TEST(SoftmaxCrossEntropy, RefusesALabelThatIsNoClassUnlessItIsIgnored) {
  const Tensor pred = Tensor::zeros({3, 4});
  const auto loss = [&](const Tensor& label, int64_t ignored) {
    return softmax_cross_entropy(pred, label, {.ignore_label = ignored});
  };
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         loss(Tensor::of<int64_t>({0, -1, 3}), kNoIgnoredLabel);
                       }),
            "softmax_cross_entropy: label -1 of sample 1 is none of the 4 classes from 0; set "
            "ignore_label to leave such samples out");
  EXPECT_THROW(loss(Tensor::of<uint8_t>({0, 4, 3}), -1), Error);
  EXPECT_EQ(loss(Tensor::of<int32_t>({0, -1, 3}), -1).to_vector<float>()[1], 0);
}

TEST(SoftmaxCrossEntropy, RefusesLabelsThatDoNotFit) {
  const Tensor pred = Tensor::zeros({3, 4});
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] { softmax_cross_entropy(pred, Tensor::zeros({4}, {DType::i64})); }),
            "softmax_cross_entropy: label of shape [4] for pred of shape [3, 4] with classes along "
            "axis 1; expected [3] (a class each) or [3, 4] (distributions)");
  EXPECT_EQ(
      error_text(ErrorKind::invalid, [&] { softmax_cross_entropy(pred, Tensor::zeros({3})); }),
      "softmax_cross_entropy: f32 label of shape [3]; classes are integers; convert with "
      "to(DType::i64)");
  const Tensor label = Tensor::zeros({3}, {DType::i64});
  EXPECT_THROW(softmax_cross_entropy(pred, label, {.label_smoothing = 1.5}), Error);
  EXPECT_THROW(softmax_cross_entropy(pred, label, {.class_weights = Tensor::ones({3})}), Error);
  EXPECT_THROW(softmax_cross_entropy(pred, Tensor::zeros({3, 4}), {.ignore_label = 0}), Error);
}

TEST(SoftmaxCrossEntropy, CountsADenseLabelOfZeroAsNothingWhereThePredictionIsMasked) {
  const Tensor pred = Tensor::of({0.0f, 0.0f, -kInf}, {1, 3});
  const Tensor label = Tensor::of<int64_t>({1, 0, 0}, {1, 3});
  EXPECT_FLOAT_EQ(softmax_cross_entropy(pred, label).item<float>(), std::log(2.0f));
}

TEST(SoftmaxCrossEntropy, TakesAHeadGradientOfAnyStrides) {
  const Tensor pred = Tensor::zeros({2, 2}).attach_grad();
  Tensor loss;
  {
    Record record;
    loss = mean(softmax_cross_entropy(pred, Tensor::of<int64_t>({0, 1})));
  }
  loss.backward();
  EXPECT_EQ(pred.grad().to_vector<float>(), (std::vector<float>{-.25f, .25f, .25f, -.25f}));
}

// huggingface/candle#2561, pytorch/pytorch#2221, #1792
TEST(SigmoidCrossEntropy, HoldsWhereTheSigmoidIsSaturated) {
  const auto expect = [](std::vector<float> z, std::vector<float> y, const Tensor& weight,
                         std::vector<float> value, std::vector<float> gradient) {
    const Tensor pred = Tensor::of(z).attach_grad();
    Tensor loss;
    {
      Record record;
      loss = sigmoid_cross_entropy(pred, Tensor::of(y), weight);
    }
    loss.backward();
    expect_near(loss, Tensor::of(value), 1e-6);
    expect_near(pred.grad(), Tensor::of(gradient), 1e-6);
  };
  expect({0, 100, -100, 100, -100, 1000, -1000}, {0, 1, 0, 0, 1, 0, 1}, {},
         {.693147f, 0, 0, 100, 100, 1000, 1000}, {.5f, 0, 0, 1, -1, 1, -1});
  expect({0, 100, -100}, {1, .25f, .25f}, Tensor::scalar(3), {2.079442f, 75, 75},
         {-1.5f, .75f, -.75f});
}

TEST(SigmoidCrossEntropy, RefusesALabelOfAnotherShape) {
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         sigmoid_cross_entropy(Tensor::ones({3, 1}), Tensor::ones({3}));
                       }),
            "sigmoid_cross_entropy: label of shape [3] for pred of shape [3, 1]; they must agree");
  EXPECT_THROW(sigmoid_cross_entropy(Tensor::ones({3}), Tensor::ones({3}), Tensor::ones({2, 3})),
               Error);
}

}  // namespace
}  // namespace thalweg
