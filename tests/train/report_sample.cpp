#include "train/report_sample.h"

#include <cmath>

namespace thalweg::train {
namespace {

constexpr int64_t kSteps = 938;
constexpr int64_t kEpochs = 10;

// The same numbers everywhere: a linear congruential generator, in [0, 1).
class Noise {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 40) / static_cast<double>(1 << 24);
  }

 private:
  uint64_t state_ = 1;
};

void add_curves(ReportData& data, Noise& noise) {
  for (int64_t step = 1; step <= kSteps * kEpochs; ++step) {
    const double t = static_cast<double>(step) / static_cast<double>(kSteps);
    const double loss = 0.24 + 2.06 * std::exp(-t * 9) + 0.35 * std::exp(-t / 2.5);
    const double rate = 0.05 * (1 + std::cos(t / kEpochs * 3.14159265));
    data.steps.push_back({step, loss * (0.7 + 0.6 * noise()), rate});
  }
  for (int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    const double t = static_cast<double>(epoch);
    const double train = 0.24 + 0.35 * std::exp(-t / 2.5);
    const double test = 0.325 + 0.25 * std::exp(-t / 2);
    data.epochs.push_back(
        {.epoch = epoch,
         .step = epoch * kSteps,
         .seconds = 1.0 + 0.1 * noise(),
         .train = {{"loss", train}, {"accuracy", 1 - train / 2.7}},
         .test = {{"loss", test}, {"accuracy", 1 - test / 2.8 + 0.004 * (noise() - 0.5)}}});
  }
}

void add_confusion(ReportData& data, Noise& noise) {
  data.confusion.classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  data.confusion.counts.assign(100, 0);
  const auto likely = [](int a, int b) {
    const auto upper = [](int c) { return c == 0 || c == 2 || c == 3 || c == 4 || c == 6; };
    const auto shoe = [](int c) { return c == 5 || c == 7 || c == 9; };
    return upper(a) && upper(b) ? 45 : shoe(a) && shoe(b) ? 30 : 4;
  };
  for (int truth = 0; truth < 10; ++truth) {
    int64_t left = 1000;
    for (int answer = 0; answer < 10; ++answer) {
      if (answer == truth) continue;
      const auto times = static_cast<int64_t>(likely(truth, answer) * noise());
      data.confusion.counts[static_cast<size_t>(truth * 10 + answer)] = times;
      left -= times;
    }
    data.confusion.counts[static_cast<size_t>(truth * 11)] = left;
  }
}

void add_images(ReportData& data, Noise& noise) {
  for (int i = 0; i < 12; ++i) {
    ReportImage image{.index = 37 + 811 * i,
                      .height = 28,
                      .width = 28,
                      .channels = i == 11 ? 3 : 1,
                      .truth = data.confusion.classes[static_cast<size_t>(i % 10)],
                      .predicted = data.confusion.classes[static_cast<size_t>((i + 4) % 10)],
                      .probability = 0.999 - 0.004 * i,
                      .truth_probability = 0.001};
    for (int y = 0; y < 28; ++y)
      for (int x = 0; x < 28 * static_cast<int>(image.channels); ++x) {
        const double dx = x / static_cast<double>(image.channels) - 14, dy = y - 14;
        const double inside = std::hypot(dx * (1 + 0.1 * i), dy) < 11 ? 1 : 0;
        image.pixels.push_back(static_cast<uint8_t>(inside * (120 + 130 * noise())));
      }
    data.worst.push_back(image);
  }
}

}  // namespace

ReportData sample_report() {
  ReportData data{.title = "fashion-mnist-mlp",
                  .started = "2026-03-01 12:30:05 UTC",
                  .command = "thalweg train recipes/fashion-mnist-mlp.toml --threads 2",
                  .version = "0.1.0",
                  .device = "cpu (AMD EPYC 9654)",
                  .threads = 2,
                  .seed = 18446744073709551615U,
                  .parameters = 55050,
                  .seconds = 11.25,
                  .samples_per_s = 61234.5};
  Noise noise;
  add_curves(data, noise);
  add_confusion(data, noise);
  add_images(data, noise);
  data.final_figures = {{"accuracy", 0.8812}, {"loss", 0.3254}};
  data.net.nodes = {{"x", "Input", "input", "28 x 28"},
                    {"0", "Flatten", "reshape", ""},
                    {"1", "Dense 784 -> 64", "dense", "50,240 parameters"},
                    {"2", "ReLU", "activation", ""},
                    {"3", "Dense 64 -> 64", "dense", "4,160 parameters"},
                    {"4", "ReLU", "activation", ""},
                    {"5", "Dense 64 -> 10", "dense", "650 parameters"}};
  data.net.edges = {{"x", "0", "64 x 28 x 28"}, {"0", "1", "64 x 784"}, {"1", "2", "64 x 64"},
                    {"2", "3", "64 x 64"},      {"3", "4", "64 x 64"},  {"4", "5", "64 x 64"}};
  data.settings = {
      {"name", "fashion-mnist-mlp"}, {"data.set", "fashion_mnist"},
      {"data.batch_size", "64"},     {"net.layers", "[\"dense 64 relu\", \"dense 10\"]"},
      {"optimizer.kind", "sgd"},     {"optimizer.learning_rate", "0.1"},
      {"optimizer.momentum", "0.9"}, {"schedule.kind", "cosine"},
      {"train.epochs", "10"},        {"train.seed", "1"}};
  data.phases = {{"data", 0.31, 9380},
                 {"forward", 2.6, 9380},
                 {"backward", 4.9, 9380},
                 {"update", 1.2, 9380},
                 {"evaluation", 0.9, 10}};
  return data;
}

}  // namespace thalweg::train
