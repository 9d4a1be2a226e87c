#pragma once

#include <cstdint>

namespace thalweg {

/// How often a planned function's own code runs beside its plan: at each of a plan's first calls,
/// then as often as costs one part in fifty of the plan's time. Where the code takes no more than
/// that part, at each call.
class VerifyPace {
 public:
  static constexpr int64_t kFirst = 16;   // calls of a new plan
  static constexpr double kShare = 0.02;  // of the plan's time
  static constexpr int64_t kMost = 1024;  // calls, of which one is verified

  /// True if this call is to be verified.
  bool due() {
    if (wait_ <= 0) return true;
    --wait_;
    return false;
  }
  /// A call was verified: the seconds that the plan took, and those that the code took besides.
  void took(double plan, double code);
  /// One in so many calls is verified.
  int64_t interval() const { return interval_; }

 private:
  int64_t verified_ = 0;
  int64_t wait_ = 0;
  int64_t interval_ = 1;
  double plan_ = 0, code_ = 0;  // near the least seen of late: what a busy machine adds is left out
};

}  // namespace thalweg
