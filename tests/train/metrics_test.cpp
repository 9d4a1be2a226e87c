#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/train/metrics.h>

#include "base/expect_error.h"

namespace thalweg::metric {
namespace {

using train::Observation;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Six samples of three classes, predicted as 0 1 2 2 0 1.
const Tensor& scores() {
  static const Tensor t = Tensor::of(
      {.9f, .1f, .0f, .2f, .7f, .1f, .1f, .3f, .6f, .1f, .2f, .7f, .5f, .4f, .1f, .3f, .5f, .2f},
      {6, 3});
  return t;
}
const Tensor& labels() {
  static const Tensor t = Tensor::of<int64_t>({0, 1, 2, 1, 1, 1});
  return t;
}

double value_after(const MetricPtr& metric, const Observation& batch) {
  metric->update(batch);
  return metric->value();
}

Tensor errors(std::initializer_list<float> values) { return Tensor::of<float>(values); }

// --- uneven batches ---
TEST(Metrics, OverUnevenBatchesAreExact) {
  const auto over = [](const MetricPtr& metric) {
    metric->update({.output = errors({1, 1}), .label = errors({0, 0})});
    metric->update({.output = errors({3}), .label = errors({0})});
    return metric->value();
  };
  EXPECT_DOUBLE_EQ(over(mae()), 5.0 / 3);
  EXPECT_DOUBLE_EQ(over(mse()), 11.0 / 3);
  EXPECT_DOUBLE_EQ(over(rmse()), std::sqrt(11.0 / 3));
}

TEST(Metrics, OfNothingAreNaN) {
  for (const char* name : {"accuracy", "top_3_accuracy", "precision", "recall", "f1", "confusion",
                           "mae", "mse", "rmse", "loss", "perplexity"})
    EXPECT_TRUE(std::isnan(by_name(name)->value())) << name;
}

TEST(Metrics, MergeAsIfOneHadSeenAll) {
  for (const char* name : {"accuracy", "precision", "f1", "confusion"}) {
    const MetricPtr whole = by_name(name), first = by_name(name);
    const std::unique_ptr<train::Metric> second = first->fresh();
    whole->update({.output = scores(), .label = labels()});
    first->update({.output = scores()[{Slice(0, 4)}], .label = labels()[{Slice(0, 4)}]});
    second->update({.output = scores()[{Slice(4, 6)}], .label = labels()[{Slice(4, 6)}]});
    first->merge(*second);
    EXPECT_EQ(first->value(), whole->value()) << name;
  }
}

TEST(Metrics, SampleWeightsCountAsRepeatedSamples) {
  const Tensor weight = Tensor::of({2.f, 0.f, 1.f, 3.f, 0.f, 1.f});
  // Samples 0, 0, 2, 3, 3, 3, 5: right are 0, 0, 2, 5.
  EXPECT_DOUBLE_EQ(
      value_after(accuracy(), {.output = scores(), .label = labels(), .weight = weight}), 4.0 / 7);
  EXPECT_DOUBLE_EQ(
      value_after(mae(),
                  {.output = errors({1, 5}), .label = errors({0, 0}), .weight = errors({3, 1})}),
      2.0);
}

TEST(Metrics, WhatHasNoWeightMayBeNaN) {
  EXPECT_DOUBLE_EQ(value_after(loss(), {.loss = errors({1, kNaN, 3}), .weight = errors({1, 0, 1})}),
                   2.0);
}

TEST(Metrics, WhatHasNoLabelDoesNotCount) {
  // Two sequences of two tokens; the second of each has no label.
  const Tensor output = Tensor::of<float>({1, 2, 9, 0, 3, 1, 0, 5}, {2, 2, 2});
  const Tensor labels = Tensor::of<int64_t>({1, -1, 1, -1}, {2, 2});
  const Tensor rows = Tensor::of<float>({0, 1, 0, 0, 0, 1, 0, 0}, {2, 2, 2});
  for (const Tensor& label : {labels, rows}) {
    EXPECT_EQ(value_after(accuracy(), {.output = output, .label = label}), 0.5);
    EXPECT_EQ(value_after(top_k({.k = 2}), {.output = output, .label = label}), 1);
    EXPECT_EQ(value_after(recall({.of_class = 1}), {.output = output, .label = label}), 0.5);
    const auto matrix = confusion();
    matrix->update({.output = output, .label = label});
    EXPECT_EQ(matrix->sums()[0] + matrix->sums()[1], 0);
    EXPECT_EQ(matrix->sums()[2] + matrix->sums()[3], 2);
  }
}

TEST(Metrics, WhatHasNoWeightMayHaveALabelThatIsNoClass) {
  const Tensor some = Tensor::of<int64_t>({0, -1, 2, 1, 99, 0}), right = labels();
  const Tensor weight = errors({1, 0, 1, 1, 0, 1});
  const Tensor other = where(weight > 0.0, right, some);
  for (const char* name :
       {"accuracy", "top_2_accuracy", "precision", "recall", "f1", "confusion"}) {
    EXPECT_EQ(value_after(by_name(name), {.output = scores(), .label = other, .weight = weight}),
              value_after(by_name(name), {.output = scores(), .label = right, .weight = weight}))
        << name;
    EXPECT_THROW(by_name(name)->update({.output = scores(), .label = some}), Error) << name;
  }
}

// --- classes ---
TEST(Accuracy, TakesClassNumbersScoresAndChannelsFirst) {
  EXPECT_DOUBLE_EQ(value_after(accuracy(), {.output = scores(), .label = labels()}), 4.0 / 6);
  const Tensor dense = Tensor::of({1.f, 0.f, 0.f, 0.f, 1.f, 0.f}, {2, 3});
  EXPECT_DOUBLE_EQ(value_after(accuracy(), {.output = scores()[{Slice(0, 2)}], .label = dense}), 1);
  const Tensor image = Tensor::of({1.f, 2.f, 3.f, 0.f}, {1, 2, 2});  // [N, C, W]
  EXPECT_DOUBLE_EQ(value_after(accuracy({.axis = 1}),
                               {.output = image, .label = Tensor::of<int32_t>({1, 1}, {1, 2})}),
                   0.5);
  EXPECT_DOUBLE_EQ(value_after(accuracy(), {.output = labels(), .label = labels()}), 1);
}

TEST(Accuracy, OfLogitsHasAThreshold) {
  const Tensor logits = Tensor::of({-1.f, 2.f, 0.3f, -4.f}, {4, 1});
  const Tensor label = Tensor::of({0.f, 1.f, 0.f, 1.f});
  EXPECT_DOUBLE_EQ(value_after(accuracy(), {.output = logits, .label = label}), 0.5);
  EXPECT_DOUBLE_EQ(value_after(accuracy({.threshold = 0.5}), {.output = logits, .label = label}),
                   0.75);
}

TEST(Accuracy, TakesTheFirstOfEqualScoresAndNaNAboveAll) {
  const Tensor ties = Tensor::of({1.f, 1.f, 0.f, 2.f, kNaN, 3.f}, {2, 3});
  EXPECT_DOUBLE_EQ(value_after(accuracy(), {.output = ties, .label = Tensor::of<int64_t>({0, 1})}),
                   1);
}

TEST(TopK, CountsLabelsAmongTheLargestScores) {
  EXPECT_DOUBLE_EQ(value_after(top_k({.k = 1}), {.output = scores(), .label = labels()}), 4.0 / 6);
  EXPECT_DOUBLE_EQ(value_after(top_k({.k = 2}), {.output = scores(), .label = labels()}), 1);
  EXPECT_DOUBLE_EQ(value_after(top_k({.k = 9}), {.output = scores(), .label = labels()}), 1);
  const Tensor nan = Tensor::of({kNaN, kNaN}, {1, 2});
  EXPECT_DOUBLE_EQ(value_after(top_k({.k = 2}), {.output = nan, .label = Tensor::of<int64_t>({0})}),
                   0);
}

// By scikit-learn: y_true = 0 1 2 1 1 1, y_pred = 0 1 2 2 0 1.
TEST(ClassShares, AgreeWithScikitLearn) {
  const Observation batch{.output = scores(), .label = labels()};
  EXPECT_NEAR(value_after(precision(), batch), (0.5 + 1 + 0.5) / 3, 1e-15);
  EXPECT_NEAR(value_after(recall(), batch), (1 + 0.5 + 1) / 3, 1e-15);
  EXPECT_NEAR(value_after(f1(), batch), (2.0 / 3 + 2.0 / 3 + 2.0 / 3) / 3, 1e-15);
  EXPECT_NEAR(value_after(f1({.average = Average::micro}), batch), 4.0 / 6, 1e-15);
  EXPECT_NEAR(value_after(precision({.of_class = 1}), batch), 1, 1e-15);
  EXPECT_NEAR(value_after(recall({.of_class = 1}), batch), 0.5, 1e-15);
}

TEST(ClassShares, OfClassesThatDoNotOccurAreNotAveraged) {
  const Tensor two = scores()[{Slice(0, 2)}];
  EXPECT_DOUBLE_EQ(value_after(f1(), {.output = two, .label = Tensor::of<int64_t>({0, 1})}), 1);
}

TEST(Confusion, HasLabelsAsRows) {
  const MetricPtr matrix = confusion();
  matrix->update({.output = scores(), .label = labels()});
  const std::vector<double> got(matrix->sums().begin(), matrix->sums().end());
  EXPECT_EQ(got, (std::vector<double>{1, 0, 0, 1, 2, 1, 0, 0, 1}));
  EXPECT_DOUBLE_EQ(matrix->value(), 4.0 / 6);
}

// --- losses ---
TEST(Loss, IsTheMeanOverSamplesOrTheBatchMeanTimesItsSamples) {
  const MetricPtr metric = loss();
  metric->update({.loss = errors({1, 2, 6})});
  metric->update({.label = labels(), .loss = Tensor::scalar(4)});
  EXPECT_DOUBLE_EQ(metric->value(), (9.0 + 24) / 9);
}

TEST(Perplexity, IsTheExponentialOfTheMeanLoss) {
  EXPECT_NEAR(value_after(perplexity(), {.loss = errors({std::log(2.f), std::log(8.f)})}), 4, 1e-6);
}

// --- mistakes ---
TEST(Metrics, RejectShapesAndLabelsThatDoNotFitAndAddNothing) {
  const MetricPtr metric = accuracy();
  metric->update({.output = scores(), .label = labels()});
  const auto text = [&](const Observation& batch) {
    return error_text(ErrorKind::invalid, [&] { metric->update(batch); });
  };
  EXPECT_EQ(text({.output = scores(), .label = Tensor::of<int64_t>({1, 2})}),
            "accuracy: labels of shape [2] i64 do not fit an output of shape [6, 3] f32");
  EXPECT_EQ(text({.output = scores(), .label = Tensor::of<int64_t>({0, 1, 2, 3, 1, 1})}),
            "accuracy: label 3 of the batch is class 3; there are 3 classes, counted from "
            "0");
  EXPECT_EQ(text({.label = labels()}), "accuracy: it needs the output of the batch");
  EXPECT_EQ(text({.output = scores(), .label = labels(), .weight = errors({1})}),
            "accuracy: weights of shape [1] for 6 samples; expected [6]");
  EXPECT_DOUBLE_EQ(metric->value(), 4.0 / 6);
}

TEST(Metrics, UnknownNamesAreToldTheNearest) {
  EXPECT_NE(error_text(ErrorKind::invalid, [] { by_name("acuracy"); })
                .find("metric: there is no 'acuracy'; did you mean 'accuracy'?"),
            std::string::npos);
  EXPECT_EQ(by_name("top_3_accuracy")->name(), "top_3_accuracy");
}

}  // namespace
}  // namespace thalweg::metric
