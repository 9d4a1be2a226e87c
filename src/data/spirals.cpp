#include <cmath>
#include <numbers>

#include <thalweg/data/sets.h>

#include "base/fail.h"
#include "data/array_source.h"

namespace thalweg::data {
namespace {

constexpr uint64_t kSpiralStream = 0x5914A1;

}  // namespace

Dataset spirals(SpiralsOptions options) {
  if (options.samples < 0 || options.classes < 1) {
    fail_invalid("spirals: {} samples of {} classes; there must be at least 0 of 1",
                 options.samples, options.classes);
  }
  const Tensor points = Tensor::empty({options.samples, 2});
  const Tensor labels = Tensor::empty({options.samples}, {.dtype = DType::i64});
  float* point = points.mutable_data<float>();
  int64_t* label = labels.mutable_data<int64_t>();
  constexpr double kTurn = 2 * std::numbers::pi;
  for (int64_t i = 0; i < options.samples; ++i) {
    Philox random(derive_seed(options.seed, static_cast<uint64_t>(i), kSpiralStream));
    label[i] = i % options.classes;
    const double radius = random.uniform64();
    const double arm = static_cast<double>(label[i]) / static_cast<double>(options.classes);
    const double angle = kTurn * (options.turns * radius + arm) +
                         options.noise * static_cast<double>(random.normal());
    point[2 * i] = static_cast<float>(radius * std::cos(angle));
    point[2 * i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  const std::vector<NamedTensor> fields = {{"data", points}, {"label", labels}};
  return Dataset(std::make_shared<ArraySource>("spirals", fields, std::vector<std::string>{}));
}

}  // namespace thalweg::data
