#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/train/averager.h>
#include <thalweg/train/checkpoint.h>

#include "base/fail.h"

namespace thalweg::train {

WeightAverager::WeightAverager(const nn::ParameterList& parameters, AveragerOptions options)
    : parameters_(parameters), averages_(parameters.size()), decay_(options.decay) {
  if (!(decay_ >= 0 && decay_ <= 1))
    fail_invalid("weight averager: decay is {}; it must be in [0, 1]", decay_);
  adopt_new_parameters();
}

void WeightAverager::adopt_new_parameters() {
  for (size_t i = 0; i < averages_.size(); ++i) {
    const nn::Parameter& p = parameters_[i].parameter;
    if (!averages_[i].defined() && p.has_data()) averages_[i] = p.data().detach().clone();
  }
}

void WeightAverager::update() {
  if (swapped_) fail_invalid("weight averager: update() between two swap()s; swap back first");
  const Pause pause;
  for (size_t i = 0; i < averages_.size(); ++i) {
    const nn::Parameter& p = parameters_[i].parameter;
    if (!averages_[i].defined()) continue;
    // What is not trained but kept, such as a running mean, is an average already.
    if (p.differentiable() && is_floating(p.dtype()))
      averages_[i] += (p.data() - averages_[i]) * (1 - decay_);
    else
      averages_[i].assign(p.data());
  }
  adopt_new_parameters();
}

void WeightAverager::swap() {
  const Pause pause;
  for (size_t i = 0; i < averages_.size(); ++i) {
    if (!averages_[i].defined()) continue;
    const Tensor& weight = parameters_[i].parameter.data();
    const Tensor kept = weight.detach().clone();
    weight.assign(averages_[i]);
    averages_[i] = kept;
  }
  swapped_ = !swapped_;
}

const Tensor& WeightAverager::average(size_t i) const {
  if (i >= averages_.size() || !averages_[i].defined())
    fail_invalid("weight averager: parameter {} of {} has no average yet", i, averages_.size());
  return averages_[i];
}

void WeightAverager::save(Checkpoint& checkpoint) const {
  for (size_t i = 0; i < averages_.size(); ++i) {
    if (averages_[i].defined()) checkpoint.put("average/" + parameters_[i].name, averages_[i]);
  }
}

void WeightAverager::restore(const Checkpoint& checkpoint) {
  for (size_t i = 0; i < averages_.size(); ++i) {
    const std::string part = "average/" + parameters_[i].name;
    const nn::Parameter& p = parameters_[i].parameter;
    const Tensor& saved = checkpoint.tensor(part);
    if (saved.shape() != p.shape() || saved.dtype() != p.dtype())
      fail_io("checkpoint: {} in {} is {} {}; the parameter is {} {}", part, checkpoint.path(),
              name(saved.dtype()), to_string(saved.shape()), name(p.dtype()), to_string(p.shape()));
    averages_[i] = saved.to(p.device()).clone();
  }
}

}  // namespace thalweg::train
