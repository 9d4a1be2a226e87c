#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

// A loss object of room nn as the loop calls it.
template <typename Loss>
train::LossFunction loss_function(const Loss& loss) {
  return
      [loss](const Tensor& output, const data::Batch& batch) { return loss(output, batch.label); };
}

struct SoftmaxCrossEntropy : LossPart {
  double label_smoothing = 0;

  Fields fields() override {
    return {{"label_smoothing", &label_smoothing, "part of a label that is spread over all classes",
             0, 1}};
  }
  train::LossFunction make() const override {
    return loss_function(
        nn::SoftmaxCrossEntropyLoss{.options = {.label_smoothing = label_smoothing}});
  }
  bool takes_classes() const override { return true; }
};

struct TokenCrossEntropy : LossPart {
  double label_smoothing = 0;

  Fields fields() override {
    return {{"label_smoothing", &label_smoothing, "part of a label that is spread over all classes",
             0, 1}};
  }
  train::LossFunction make() const override {
    return loss_function(nn::TokenCrossEntropyLoss{.label_smoothing = label_smoothing});
  }
};

struct Huber : LossPart {
  double rho = 1;

  Fields fields() override {
    return {{"rho", &rho, "squares up to this distance, straight from there on", DBL_MIN}};
  }
  train::LossFunction make() const override { return loss_function(nn::HuberLoss{.rho = rho}); }
};

template <typename Loss>
struct Plain : LossPart {
  Fields fields() override { return {}; }
  train::LossFunction make() const override { return loss_function(Loss{}); }
};

constexpr Kind kKinds[] = {
    {"softmax_cross_entropy", "For one of several classes; the net's outputs are their scores.",
     make_part<SoftmaxCrossEntropy>},
    {"token_cross_entropy", "The same for each token of sequences; the mean of those with a label.",
     make_part<TokenCrossEntropy>},
    {"sigmoid_cross_entropy", "For labels between 0 and 1, each on its own; outputs are logits.",
     make_part<Plain<nn::SigmoidCrossEntropyLoss>>},
    {"l2", "Half the squared distance.", make_part<Plain<nn::L2Loss>>},
    {"l1", "The distance.", make_part<Plain<nn::L1Loss>>},
    {"huber", "Between both.", make_part<Huber>},
};

}  // namespace

std::span<const Kind> loss_kinds() { return kKinds; }

}  // namespace thalweg::cli
