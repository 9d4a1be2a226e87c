#include <cmath>

#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

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
  train::Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.01, .momentum = 0.9}));
  const auto eager = [&] {
    Tensor loss;
    {
      const Record record;
      loss = softmax_cross_entropy(net(words), tags);
    }
    loss.backward();
    trainer.step(kBatch * kSteps);
    return loss;
  };
  auto replayed = plan(eager);
  const auto step = [&] { return planned ? replayed() : eager(); };
  const float first = mean(step()).item<float>();
  check(std::abs(first - std::log(static_cast<float>(kTags))) < 0.1,
        "the first loss is not log(129)");
  for (int i = 0; i < 20; ++i) step();
  check(mean(step()).item<float>() < first, "the loss does not fall");
  const double seconds = best_seconds([&] { step(); }, 10);
  return {{planned ? "lstm_plan" : "lstm",
           "",
           {{"step_ms", seconds * 1e3}, {"items_s", kBatch / seconds}}}};
}

}  // namespace

std::vector<Line> run_lstm() { return run(false); }
std::vector<Line> run_lstm_plan() { return run(true); }

}  // namespace thalweg::bench
