#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/nn/loss.h>
#include <thalweg/ops/reduce.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg::nn {
namespace {

using testing::HasSubstr;

// Runs `loss` on the arrays that `names` name and checks value and gradient of the first.
template <typename Loss>
void check(const char* fixture, std::vector<const char*> names, Loss loss) {
  SCOPED_TRACE(fixture);
  const Json& expected = fixtures("loss").at(fixture);
  std::vector<Tensor> inputs;
  for (const char* name : names) inputs.push_back(array(expected.at(name)));
  inputs[0].attach_grad();
  Tensor y, total;
  {
    Record record;
    y = loss(inputs);
    total = sum(y);
  }
  total.backward();
  expect_near(y, expected.at("y"), 1e-9);
  expect_near(inputs[0].grad(), expected.at("gradient"), 1e-9);
}

template <typename Loss>
void check_pair(const char* fixture, Loss loss) {
  check(fixture, {"pred", "label"},
        [&](const std::vector<Tensor>& in) { return loss(in[0], in[1]); });
}

TEST(Loss, AgreesWithPyTorchOnPredictionsAndLabels) {
  check_pair("l2", L2Loss{});
  check_pair("l1", L1Loss{});
  check_pair("huber", HuberLoss{.rho = 0.7});
  check_pair("hinge", HingeLoss{.margin = 0.8});
  check_pair("squared hinge", HingeLoss{.squared = true});
  check_pair("sigmoid", SigmoidCrossEntropyLoss{});
  check_pair("kl", KLDivLoss{});
  check_pair("kl of logits", KLDivLoss{.from_logits = true});
}

TEST(Loss, AgreesWithPyTorchOnVectorsToCompare) {
  check("cosine", {"a", "b", "label"}, [](const std::vector<Tensor>& in) {
    return CosineEmbeddingLoss{.margin = 0.1}(in[0], in[1], in[2]);
  });
  check("triplet", {"anchor", "positive", "negative"},
        [](const std::vector<Tensor>& in) { return TripletLoss{}(in[0], in[1], in[2]); });
}

TEST(SoftmaxCrossEntropyLoss, IsTheMeanOverThePositionsOfASample) {
  check("softmax of images", {"pred", "label"}, [](const std::vector<Tensor>& in) {
    return SoftmaxCrossEntropyLoss{{.axis = 1}}(in[0], in[1].to(DType::i64));
  });
}

// Gluon's rule by hand: rows (1 + 4) / 2 and (9 + 16) / 2, halved, times 1 and 3.
TEST(Loss, MultipliesByTheSampleWeightWithoutDividingByIt) {
  const Tensor pred = Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor label = Tensor::zeros({2, 2});
  EXPECT_EQ(L2Loss{}(pred, label, Tensor::of({1.0f, 3.0f})).to_vector<float>(),
            (std::vector<float>{1.25, 18.75}));
  EXPECT_EQ(L2Loss{}(pred, label, Tensor::of({1.0f, 3.0f}, {2, 1})).to_vector<float>(),
            (std::vector<float>{1.25, 18.75}));
  EXPECT_EQ(L2Loss{}(pred, label, Tensor::of({1.0f, 0.0f, 0.0f, 1.0f}, {2, 2})).to_vector<float>(),
            (std::vector<float>{0.25, 4}));
}

TEST(Loss, FitsAColumnToARowOfLabelsAndBroadcastsNothing) {
  const Tensor pred = Tensor::of({1.0f, 2.0f, 3.0f}, {3, 1});
  const Tensor label = Tensor::of({int64_t{1}, int64_t{1}, int64_t{1}});
  EXPECT_EQ(L1Loss{}(pred, label).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { L1Loss{}(pred, Tensor::ones({2})); }),
              HasSubstr("L1Loss: label [2] does not fit pred [3, 1]"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { L1Loss{}(pred, label, Tensor::ones({2})); }),
              HasSubstr("sample_weight [2] does not fit the first axes of the loss [3, 1]"));
}

TEST(Loss, GivesNoValuesForAnEmptyBatch) {
  EXPECT_EQ(L2Loss{}(Tensor::zeros({0, 3}), Tensor::zeros({0, 3})).shape(), (Shape{0}));
}

// log(1 + e^-1) and log(1 + e^2): of two tokens with a label, the mean.
TEST(TokenCrossEntropyLoss, IsTheMeanOverTheTokensThatHaveALabel) {
  const Tensor z = Tensor::of({1.0, 0.0, 7.0, 8.0, 0.0, 2.0, 3.0, 1.0}, {2, 2, 2}).attach_grad();
  const double expected = (std::log1p(std::exp(-1)) + std::log1p(std::exp(2))) / 2;
  for (const Tensor& label : {Tensor::of<int64_t>({0, -1, 0, -1}, {2, 2}),
                              Tensor::of({1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, {2, 2, 2})}) {
    Tensor loss;
    {
      const Record record;
      loss = TokenCrossEntropyLoss{}(z, label);
    }
    loss.backward();
    EXPECT_NEAR(loss.item<double>(), expected, 1e-12);
    const std::vector<double> g = z.grad().to_vector<double>();
    EXPECT_NEAR(g[0], -1 / (1 + std::exp(1)) / 2, 1e-12);
    EXPECT_EQ(g[2], 0);
    EXPECT_EQ(g[7], 0);
  }
  const Tensor none = Tensor::full({2, 2}, -1, {DType::i64});
  EXPECT_EQ(TokenCrossEntropyLoss{.label_smoothing = 0.1}(z, none).item<double>(), 0);
}

// huggingface/candle#2561, pytorch/pytorch#2221 and #1792
TEST(SigmoidCrossEntropyLoss, IsExactWhereItSaturatesAndAtZero) {
  const Tensor z = Tensor::of({0.0, 100.0, -100.0, 100.0, -100.0, 1000.0, -1000.0}).attach_grad();
  const Tensor y = Tensor::of({0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0});
  Tensor loss, total;
  {
    Record record;
    loss = SigmoidCrossEntropyLoss{}(z, y);
    total = sum(loss);
  }
  total.backward();
  expect_near(loss, Tensor::of({0.6931471805599453, 0.0, 0.0, 100.0, 100.0, 1000.0, 1000.0}), 1e-9);
  expect_near(z.grad(), Tensor::of({0.5, 0.0, 0.0, 1.0, -1.0, 1.0, -1.0}), 1e-9);
}

TEST(CosineEmbeddingLoss, HasNoNaNForAVectorOfZeros) {
  const Tensor a = Tensor::zeros({1, 3}).attach_grad();
  Tensor loss;
  {
    Record record;
    loss = CosineEmbeddingLoss{}(a, Tensor::ones({1, 3}), Tensor::ones({1}));
  }
  loss.backward();
  EXPECT_EQ(loss.item<float>(), 1);
  for (float g : a.grad().to_vector<float>()) EXPECT_TRUE(std::isfinite(g));
}

}  // namespace
}  // namespace thalweg::nn
