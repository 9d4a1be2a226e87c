#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

namespace thalweg::bench {
namespace {

constexpr int kSize = 4;
constexpr double kRate = 0.01;
using Matrix = std::array<std::array<double, kSize>, kSize>;
using Vector = std::array<double, kSize>;

struct Weights {
  Matrix w1, w2;
  Vector b1, b2;
};

Matrix matrix_of(const Tensor& tensor) {
  Matrix matrix;
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) matrix[i][j] = tensor[{i, j}].item<double>();
  }
  return matrix;
}

Vector vector_of(const Tensor& tensor) {
  Vector vector;
  for (int i = 0; i < kSize; ++i) vector[i] = tensor[i].item<double>();
  return vector;
}

// The whole step by hand, in double precision: w <- w - rate * gradient of the mean square.
Weights reference_step(Weights w, const Matrix& x, const Matrix& y) {
  Weights next = w;
  for (int sample = 0; sample < kSize; ++sample) {
    const Vector& input = x[sample];
    const Vector& target = y[sample];
    Vector h, g{};
    for (int i = 0; i < kSize; ++i) {
      double sum = w.b1[i];
      for (int j = 0; j < kSize; ++j) sum += w.w1[i][j] * input[j];
      h[i] = std::tanh(sum);
    }
    for (int i = 0; i < kSize; ++i) {
      double out = w.b2[i];
      for (int j = 0; j < kSize; ++j) out += w.w2[i][j] * h[j];
      const double slope = 2 * (out - target[i]) / (kSize * kSize);
      next.b2[i] -= kRate * slope;
      for (int j = 0; j < kSize; ++j) {
        next.w2[i][j] -= kRate * slope * h[j];
        g[j] += slope * w.w2[i][j];
      }
    }
    for (int i = 0; i < kSize; ++i) {
      const double slope = g[i] * (1 - h[i] * h[i]);
      next.b1[i] -= kRate * slope;
      for (int j = 0; j < kSize; ++j) next.w1[i][j] -= kRate * slope * input[j];
    }
  }
  return next;
}

bool close(const Matrix& a, const Matrix& b) {
  double worst = 0;
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) worst = std::max(worst, std::abs(a[i][j] - b[i][j]));
  }
  return worst < 1e-6;
}

Weights weights_of(const nn::ParameterList& p) {
  return {matrix_of(p["0.weight"].data()), matrix_of(p["1.weight"].data()),
          vector_of(p["0.bias"].data()), vector_of(p["1.bias"].data())};
}

// The net, its data and its trainer.
struct Training {
  nn::Sequential net{nn::Dense(kSize, {.activation = nn::tanh}), nn::Dense(kSize)};
  Tensor x, y;
  std::optional<train::Trainer> trainer;

  Training() {
    manual_seed(7);
    net.initialize();
    x = random_uniform({kSize, kSize});
    y = random_uniform({kSize, kSize});
    net(x);
    trainer.emplace(net.parameters(), optim::SGD({.learning_rate = kRate}));
  }

  Tensor step() {
    Tensor loss;
    {
      const Record record;
      loss = mean(square(net(x) - y));
    }
    loss.backward();
    trainer->step(1);
    return loss;
  }
};

}  // namespace

std::function<void()> step444_step() {
  return [training = std::make_shared<Training>()] { training->step(); };
}

std::function<void()> step444_plan_step() {
  auto training = std::make_shared<Training>();
  return [training, planned = plan([t = training.get()] { return t->step(); })]() mutable {
    planned();
  };
}

// The planned net must keep the bits of one that is trained op by op.
std::vector<Line> run_step444_plan() {
  Training eager, training;
  auto step = plan([&] { return training.step(); });
  for (int i = 0; i < 100; ++i) {
    const float expected = eager.step().item<float>();
    check(step().item<float>() == expected, "the planned loss");
  }
  check(step.counts().replayed > 90, "it was not planned");
  const double seconds = best_seconds([&] { step(); }, 5000, 10);
  return {{"step444_plan", "", {{"us", seconds * 1e6}}}};
}

std::vector<Line> run_step444() {
  Training training;
  const Weights expected = reference_step(weights_of(training.net.parameters()),
                                          matrix_of(training.x), matrix_of(training.y));
  const float first = training.step().item<float>();
  const Weights found = weights_of(training.net.parameters());
  check(close(found.w1, expected.w1) && close(found.w2, expected.w2), "weights after one step");
  for (int i = 0; i < 100; ++i) training.step();
  check(training.step().item<float>() < first, "the loss does not fall");
  const double seconds = best_seconds([&] { training.step(); }, 5000, 10);
  return {{"step444", "", {{"us", seconds * 1e6}}}};
}

}  // namespace thalweg::bench
