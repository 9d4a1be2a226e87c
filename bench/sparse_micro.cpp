// A step of training on sparse input against the width of that input: what one takes follows the
// rows that it touches. `sparse_micro SECONDS` sets the time given to each line.

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/philox.h>
#include <thalweg/thalweg.h>

#include "stopwatch.h"

namespace {

using namespace thalweg;

constexpr int64_t kRows = 64, kStored = 20, kUnits = 32;

CsrTensor minibatch(int64_t width) {
  Philox random(1);
  std::vector<float> values(kRows * kStored, 1.0f);
  std::vector<int32_t> columns;
  std::vector<int64_t> starts{0};
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t i = 0; i < kStored; ++i)
      columns.push_back(static_cast<int32_t>(random.bounded(static_cast<uint32_t>(width))));
    starts.push_back(static_cast<int64_t>(columns.size()));
  }
  return {Tensor::of(values), Tensor::of(columns), Tensor::of(starts), {kRows, width}};
}

template <typename Layer>
double step_us(Layer first, const CsrTensor& x, const optim::Optimizer& optimizer, bool dense,
               double seconds) {
  nn::Sequential net{std::move(first), nn::Dense(2)};
  net.initialize(init::uniform(0.01));
  net(x);
  train::Trainer trainer(net.parameters(), optimizer);
  const Tensor with_zeros = dense ? x.to_dense() : Tensor();
  const auto step = [&] {
    Tensor loss;
    {
      const Record record;
      loss = sum(square(dense ? net(with_zeros) : net(x)));
    }
    loss.backward();
    trainer.step(kRows);
  };
  return bench::race({step}, seconds)[0] / 1000;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  set_num_threads(1);
  fmt::print("us a step; {} rows of {} values, {} units, one thread\n", kRows, kStored, kUnits);
  fmt::print("{:>10} {:>16} {:>16} {:>16} {:>16}\n", "width", "Embedding SGD", "Embedding Adam",
             "Dense SGD", "Dense SGD, zeros");
  for (const int64_t width : {10'000, 100'000, 1'000'000}) {
    const CsrTensor x = minibatch(width);
    const auto embedding = [&] { return nn::Embedding(width, kUnits); };
    fmt::print("{:>10} {:>16.1f} {:>16.1f} {:>16.1f} {:>16.1f}\n", width,
               step_us(embedding(), x, optim::SGD(), false, seconds),
               step_us(embedding(), x, optim::Adam(), false, seconds),
               step_us(nn::Dense(kUnits), x, optim::SGD(), false, seconds),
               step_us(nn::Dense(kUnits), x, optim::SGD(), true, seconds));
  }
  return 0;
}
