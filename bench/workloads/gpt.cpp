#include "bench/workloads/training_step.h"

namespace thalweg::bench {

namespace {

constexpr int64_t kBatch = 16, kTokens = 128, kVocabulary = 65, kUnits = 128, kHeads = 4;

nn::Sequential gpt() {
  nn::Sequential net{nn::Embedding(kVocabulary, kUnits), nn::PositionalEmbedding(kTokens, kUnits)};
  for (int i = 0; i < 4; ++i) {
    net.add(nn::TransformerBlock(kUnits, kHeads, {.causal = true, .activation = nn::gelu_tanh}));
  }
  net.add(nn::LayerNorm());
  net.add(nn::Dense(kVocabulary, {.bias = false}));
  return net;
}

std::vector<Line> run(bool planned) {
  manual_seed(7);
  nn::Sequential net = gpt();
  net.initialize();
  const Tensor x = random_integers({kBatch, kTokens}, 0, kVocabulary);
  const Tensor label = random_integers({kBatch, kTokens}, 0, kVocabulary);
  net(x);
  check(net.parameters().element_count() == 826368, "the net has 826,368 parameters");
  train::Trainer trainer(net.parameters(), optim::AdamW({.learning_rate = 1e-3}));
  return time_training_step("gpt", planned, net, trainer, x, label, 4);
}

}  // namespace

std::vector<Line> run_gpt() { return run(false); }
std::vector<Line> run_gpt_plan() { return run(true); }

}  // namespace thalweg::bench
