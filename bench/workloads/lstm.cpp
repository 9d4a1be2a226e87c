#include <cmath>

#include "bench/workloads/training_step.h"

namespace thalweg::bench {

namespace {

constexpr int64_t kWords = 943, kTags = 129, kBatch = 32, kSteps = 20;

nn::Sequential tagger() {
  nn::Sequential net{nn::Embedding(kWords, 150), nn::LSTM(300), nn::Dense(kTags)};
  net.initialize();
  return net;
}

// One LSTM step by hand, on one number.
void check_cell() {
  nn::LSTM lstm(1, {.in_units = 1});
  lstm.initialize(init::one());
  const float y = lstm(Tensor::ones({1, 1, 1})).item<float>();
  const double gate = 1 / (1 + std::exp(-1.0)), c = gate * std::tanh(1.0);
  check(std::abs(y - gate * std::tanh(c)) < 1e-6, "an LSTM of ones");
}

std::vector<Line> run(bool planned) {
  manual_seed(7);
  check_cell();
  nn::Sequential net = tagger();
  const Tensor words = random_integers({kBatch, kSteps}, 0, kWords);
  const Tensor tags = random_integers({kBatch, kSteps}, 0, kTags);
  net(words);
  check(net.parameters().element_count() == 722679, "the tagger has 722,679 parameters");
  const float first = mean(softmax_cross_entropy(net(words), tags)).item<float>();
  check(std::abs(first - std::log(static_cast<float>(kTags))) < 0.1,
        "the first loss is not log(129)");
  train::Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.01, .momentum = 0.9}));
  return time_training_step("lstm", planned, net, trainer, words, tags, 10);
}

}  // namespace

std::vector<Line> run_lstm() { return run(false); }
std::vector<Line> run_lstm_plan() { return run(true); }

}  // namespace thalweg::bench
