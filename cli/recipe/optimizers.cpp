#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

Field learning_rate(double* rate) {
  return {"learning_rate", rate, "of the schedule's start or peak", 0};
}
Field weight_decay(double* decay) {
  return {"weight_decay", decay, "pulls weights towards zero", 0};
}
Field epsilon(double* epsilon) { return {"epsilon", epsilon, "keeps the divisor from zero", 0}; }

struct Sgd : OptimizerPart {
  optim::SGDOptions options;

  Fields fields() override {
    return {learning_rate(&options.learning_rate),
            {"momentum", &options.momentum, "how much of the last direction stays", 0, 1},
            {"dampening", &options.dampening, "of gradients that enter the momentum", 0, 1},
            {"nesterov", &options.nesterov, "looks a step ahead; needs momentum, no dampening"},
            weight_decay(&options.weight_decay)};
  }
  optim::Optimizer make() const override { return optim::SGD(options); }
};

template <typename Rule, typename Options>
struct AdamLike : OptimizerPart {
  Options options;

  Fields fields() override {
    return {learning_rate(&options.learning_rate),
            {"beta1", &options.beta1, "how much of the mean gradient stays", 0, 1},
            {"beta2", &options.beta2, "how much of the mean square stays", 0, 1},
            epsilon(&options.epsilon),
            weight_decay(&options.weight_decay)};
  }
  optim::Optimizer make() const override { return Rule(options); }
};
using Adam = AdamLike<optim::Adam, optim::AdamOptions>;
using AdamW = AdamLike<optim::AdamW, optim::AdamWOptions>;

struct RmsProp : OptimizerPart {
  optim::RMSPropOptions options;

  Fields fields() override {
    return {learning_rate(&options.learning_rate),
            {"alpha", &options.alpha, "how much of the mean square stays", 0, 1},
            epsilon(&options.epsilon),
            {"momentum", &options.momentum, "how much of the last direction stays", 0, 1},
            {"centered", &options.centered, "divide by the deviation, not the root mean square"},
            weight_decay(&options.weight_decay)};
  }
  optim::Optimizer make() const override { return optim::RMSProp(options); }
};

struct AdaGrad : OptimizerPart {
  optim::AdaGradOptions options;

  Fields fields() override {
    return {learning_rate(&options.learning_rate),
            {"rate_decay", &options.rate_decay,
             "the rate of update t is divided by 1 + (t - 1) this", 0},
            {"initial_sum", &options.initial_sum, "of squares, before the first update", 0},
            epsilon(&options.epsilon),
            weight_decay(&options.weight_decay)};
  }
  optim::Optimizer make() const override { return optim::AdaGrad(options); }
};

constexpr Kind kKinds[] = {
    {"sgd", "Stochastic gradient descent, with momentum or without.", make_part<Sgd>},
    {"adam", "Kingma and Ba 2015.", make_part<Adam>},
    {"adamw", "Adam with the decay apart from the gradient (Loshchilov and Hutter 2019).",
     make_part<AdamW>},
    {"rmsprop", "Hinton's lecture 6e; centered: Graves 2013.", make_part<RmsProp>},
    {"adagrad", "Duchi, Hazan and Singer 2011.", make_part<AdaGrad>},
};

}  // namespace

std::span<const Kind> optimizer_kinds() { return kKinds; }

}  // namespace thalweg::cli
