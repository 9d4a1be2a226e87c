#include "graph/verify_pace.h"

#include <algorithm>
#include <cmath>

namespace thalweg {
namespace {

constexpr double kRise = 1.1;

double follow(double estimate, double seen) {
  return estimate > 0 ? std::min(seen, estimate * kRise) : seen;
}

}  // namespace

void VerifyPace::took(double plan, double code) {
  plan_ = follow(plan_, plan);
  code_ = follow(code_, code);
  const double afforded = kShare * plan_;
  const double calls = afforded > 0 ? std::ceil(code_ / afforded) : static_cast<double>(kMost);
  interval_ = static_cast<int64_t>(std::clamp(calls, 1.0, static_cast<double>(kMost)));
  wait_ = ++verified_ < kFirst ? 0 : interval_ - 1;
}

}  // namespace thalweg
