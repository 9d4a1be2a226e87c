#pragma once

// Where the time of a run went, over all the processes that trained it: times.json in its folder,
// which the report is made from. Checkpoints and metrics hold no times, as these differ from run to
// run.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace thalweg::train {

inline constexpr size_t kPhases = 5;
/// What the main thread's time is spent on.
inline constexpr const char* kPhaseNames[kPhases] = {"data", "step", "evaluation", "checkpoint",
                                                     "records"};

struct PhaseTimes {
  std::array<double, kPhases> seconds = {};
  std::array<int64_t, kPhases> calls = {};

  PhaseTimes& operator+=(const PhaseTimes& other);
};

struct RunTimes {
  std::string started = {};  ///< UTC, of the first process
  int64_t step = 0;          ///< steps of the run when this was written
  int64_t samples = 0;       ///< trained on
  double seconds = 0;
  PhaseTimes phases = {};
  std::map<int64_t, double> epochs = {};  ///< seconds of whole epochs, evaluation included
  std::optional<double> epoch_part = 0;   ///< of the epoch in progress; none: not known
  /// When another process went on, and after which step.
  struct Resumption {
    int64_t step = 0;
    std::string at = {};
  };
  std::vector<Resumption> resumed = {};

  /// Throws Error{io}.
  void write(const std::string& path) const;
  static RunTimes read(const std::string& path);
  /// As they are for a process that goes on after `at_step`, in `epoch`: what was measured of later
  /// epochs will be measured again.
  void go_on(int64_t at_step, int64_t epoch, std::string now);
};

}  // namespace thalweg::train
