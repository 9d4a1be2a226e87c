#pragma once

#include <cmath>
#include <limits>

#include "ops/reference.h"

namespace thalweg {

/// The logits of one softmax, for reference kernels.
template <typename T>
class SoftmaxLane {
 public:
  SoftmaxLane(const T* logits, int64_t step, int64_t n) : logits_(logits), step_(step) {
    for (int64_t i = 0; i < n; ++i) {
      const double x = at(i);
      largest_ = x > largest_ || x != x ? x : largest_;
    }
    for (int64_t i = 0; i < n && !is_masked(); ++i) total_ += std::exp(at(i) - largest_);
  }

  /// softmax at position i.
  double share(int64_t i) const { return is_masked() ? 0 : std::exp(at(i) - largest_) / total_; }
  double log_share(int64_t i) const {
    return is_masked() ? largest_ : at(i) - largest_ - std::log(total_);
  }

 private:
  // All logits are -inf.
  bool is_masked() const { return largest_ == -std::numeric_limits<double>::infinity(); }
  double at(int64_t i) const { return as_double(logits_[i * step_]); }

  const T* logits_;
  int64_t step_;
  double largest_ = -std::numeric_limits<double>::infinity();
  double total_ = 0;
};

}  // namespace thalweg
