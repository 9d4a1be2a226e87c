#pragma once

// Times small pieces of code of one thread against each other: all candidates run in turn, many
// rounds, and the best of each counts, so that a noisy machine is unfair to none.

#include <algorithm>
#include <functional>
#include <vector>

#include <time.h>

namespace bench {

/// Of this thread's time on the processor.
inline double now_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Best nanoseconds of each candidate within `budget_s` seconds in all.
inline std::vector<double> race(const std::vector<std::function<void()>>& candidates,
                                double budget_s = 0.1) {
  constexpr double kSliceNs = 20e3;
  std::vector<double> best(candidates.size(), 1e18);
  std::vector<int> repeats;
  for (const auto& run : candidates) {
    run();
    const double begin = now_ns();
    run();
    repeats.push_back(std::max(1, static_cast<int>(kSliceNs / (now_ns() - begin))));
  }
  for (const double end = now_ns() + budget_s * 1e9; now_ns() < end;) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double begin = now_ns();
      for (int r = 0; r < repeats[i]; ++r) candidates[i]();
      best[i] = std::min(best[i], (now_ns() - begin) / repeats[i]);
    }
  }
  return best;
}

}  // namespace bench
