#pragma once

#include <vector>

#include <thalweg/nn/parameter.h>

namespace thalweg::train {

class Checkpoint;

struct AveragerOptions {
  double decay = 0.999;  ///< how much of the average stays at each update; in [0, 1]
};

/// The exponential moving average of a net's weights: average <- average + (1 - decay) * (weight -
/// average). It starts from the weights as they are when it is made, or as soon as they have
/// values; so there is no bias towards zero, and constant weights have themselves as their average.
class THALWEG_API WeightAverager {
 public:
  explicit WeightAverager(const nn::ParameterList& parameters, AveragerOptions options = {});

  /// To be called after each step.
  void update();
  /// Exchanges weights and averages: once to evaluate with the averages, once more to train on.
  void swap();
  bool swapped() const { return swapped_; }
  /// The average of parameter i. Throws Error{invalid} before it has values.
  const Tensor& average(size_t i) const;

  /// The parts "average/..." of a checkpoint.
  void save(Checkpoint& checkpoint) const;
  void restore(const Checkpoint& checkpoint);

 private:
  void adopt_new_parameters();

  nn::ParameterList parameters_;
  std::vector<Tensor> averages_;  // undefined until the parameter has values
  double decay_;
  bool swapped_ = false;
};

}  // namespace thalweg::train
