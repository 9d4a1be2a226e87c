#include <charconv>

#include <thalweg/base/text.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/train/metrics.h>

#include "base/fail.h"

namespace thalweg::train {
namespace {

Tensor on_host(const Tensor& t) {
  if (!t.defined() || (t.device() == Device::cpu() && t.is_contiguous())) return t;
  return t.to(Device::cpu()).contiguous();
}

}  // namespace

void Metric::update(const Observation& batch) {
  const Pause pause;
  add({on_host(batch.output), on_host(batch.label), on_host(batch.loss), on_host(batch.weight)});
}

void Metric::reset() { sums_.clear(); }

void Metric::merge(const Metric& other) {
  if (other.sums_.empty()) return;
  if (sums_.empty()) sums_.resize(other.sums_.size());
  if (name_ != other.name_ || sums_.size() != other.sums_.size())
    fail_invalid("metric: {} of {} sums cannot take in {} of {}", name_, sums_.size(), other.name_,
                 other.sums_.size());
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
}

}  // namespace thalweg::train

namespace thalweg::metric {
namespace {

// The k of "top_<k>_accuracy"; 0 for other text.
int64_t k_of(std::string_view name) {
  constexpr std::string_view prefix = "top_", suffix = "_accuracy";
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size())
    return 0;
  const char* first = name.data() + prefix.size();
  const char* last = name.data() + name.size() - suffix.size();
  int64_t k = 0;
  const auto [end, error] = std::from_chars(first, last, k);
  return error == std::errc() && end == last ? k : 0;
}

}  // namespace

MetricPtr by_name(std::string_view name) {
  static constexpr std::string_view names[] = {"accuracy", "top_5_accuracy", "precision", "recall",
                                               "f1",       "confusion",      "mae",       "mse",
                                               "rmse",     "loss",           "perplexity"};
  if (name == "accuracy") return accuracy();
  if (const int64_t k = k_of(name)) return top_k({.k = k});
  if (name == "precision") return precision();
  if (name == "recall") return recall();
  if (name == "f1") return f1();
  if (name == "confusion") return confusion();
  if (name == "mae") return mae();
  if (name == "mse") return mse();
  if (name == "rmse") return rmse();
  if (name == "loss") return loss();
  if (name == "perplexity") return perplexity();
  fail_invalid("metric: there is no '{}'{}; known are {}", name, did_you_mean(name, names),
               fmt::join(names, ", "));
}

}  // namespace thalweg::metric
