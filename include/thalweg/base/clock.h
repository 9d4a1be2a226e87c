#pragma once

#include <chrono>
#include <string>

#include <thalweg/base/export.h>

namespace thalweg {

/// Seconds since it was made or restarted, by a clock that never jumps.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

using UtcTime = std::chrono::system_clock::time_point;

/// ISO 8601, whole seconds: "2026-03-01T17:05:09Z".
THALWEG_API std::string format_utc(UtcTime time);

/// The same for file names: "20260301T170509Z".
THALWEG_API std::string format_utc_compact(UtcTime time);

}  // namespace thalweg
