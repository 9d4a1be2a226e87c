#include <thalweg/base/clock.h>
#include <thalweg/data/sets.h>
#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

namespace thalweg::bench {
namespace {

// Digits of our own have the same sizes: where Fashion-MNIST is not there, the work is the same.
data::Dataset images(data::Split split) {
  try {
    return data::fashion_mnist({.split = split});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unavailable) throw;
    return data::drawn_digits({.split = split}).cached();
  }
}

struct Epoch {
  double seconds = 0;
  double loss = 0;
};

using Step = std::function<Tensor(const Tensor& data, const Tensor& label)>;

Epoch train_epoch(const Step& step, data::DataLoader& loader) {
  const Stopwatch watch;
  double sum = 0;
  for (const data::Batch& batch : loader) sum += mean(step(batch.data, batch.label)).item<double>();
  return {watch.seconds(), sum / static_cast<double>(loader.size())};
}

double accuracy(nn::Module& net) {
  const data::Dataset set = images(data::Split::test);
  data::DataLoader loader(set, {.batch_size = 1000});
  const auto metric = metric::accuracy();
  train::evaluate(net, loader, {}, {metric});
  return metric->value();
}

std::vector<Line> run(bool planned) {
  manual_seed(7);
  nn::Sequential net{nn::Dense(64, {.activation = nn::relu}),
                     nn::Dense(64, {.activation = nn::relu}), nn::Dense(10)};
  net.initialize();
  const data::Dataset set = images(data::Split::train);
  net(set.gather({0}).data);
  train::Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.1}));
  data::DataLoader loader(set, {.batch_size = 64, .shuffle = true});
  const auto eager = [&](const Tensor& data, const Tensor& label) {
    Tensor loss;
    {
      const Record record;
      loss = softmax_cross_entropy(net(data), label);
    }
    loss.backward();
    trainer.step(data.size(0));
    return loss;
  };
  const Step step = planned ? Step(plan(eager)) : Step(eager);
  const Epoch first = train_epoch(step, loader);
  check(accuracy(net) > 0.75, "the net has learned nothing");
  Epoch best{1e300, 0};
  double loss = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const Epoch next = train_epoch(step, loader);
    loss = next.loss;
    if (next.seconds < best.seconds) best = next;
  }
  check(loss < first.loss, "the loss does not fall");
  return {{planned ? "mlp_plan" : "mlp",
           "loader",
           {{"epoch_s", best.seconds}, {"loss", loss}, {"test_acc", accuracy(net)}}}};
}

}  // namespace

std::vector<Line> run_mlp() { return run(false); }
std::vector<Line> run_mlp_plan() { return run(true); }

}  // namespace thalweg::bench
