#pragma once

// What a session remembers, and its parts.

#include <array>
#include <map>

#include <thalweg/base/clock.h>
#include <thalweg/graph/profile.h>
#include <thalweg/train/session.h>

#include "train/run_times.h"

namespace thalweg::train {

/// Adds up the main thread's time by what it is spent on.
class PhaseClock {
 public:
  enum Phase : uint8_t { data, step, evaluation, checkpoint, other };  // as in kPhaseNames

  /// The time since the last call belongs to `phase`.
  void end(Phase phase) {
    const double now = watch_.seconds();
    note_stretch(kPhaseNames[phase], now - last_);
    times_.seconds[phase] += now - last_;
    ++times_.calls[phase];
    last_ = now;
  }
  const PhaseTimes& times() const { return times_; }
  double total() const { return watch_.seconds(); }

 private:
  Stopwatch watch_;
  double last_ = 0;
  PhaseTimes times_;
};

/// For the report: those that were gone through.
std::vector<ReportPhase> phases_of(const PhaseTimes& times);
/// Samples a second while training.
double speed_of(const PhaseTimes& times, int64_t samples);

/// Where a run stands: what a checkpoint keeps besides weights, trainer and loader.
struct Standing {
  int64_t step = 0;        // done in the whole run
  int64_t epoch = 1;       // in progress
  int64_t epoch_step = 0;  // done in this epoch
  std::optional<double> best = {};
  int64_t best_step = 0;
  std::optional<double> patience_from = {};
  int64_t without_improvement = 0;  // evaluations since patience_from
  Figures train = {};               // of the last whole epoch
  Figures test = {};                // of the last evaluation

  void save(Checkpoint& checkpoint) const;
  void restore(const Checkpoint& checkpoint);
};

class Session::State {
 public:
  State(nn::Module& net, LossFunction loss, Trainer& trainer, data::DataLoader& loader,
        SessionOptions options);

  // --- session_checkpoint.cpp ---
  Checkpoint snapshot(const data::LoaderState& next) const;
  void restore(const Checkpoint& checkpoint);
  void resume(const std::string& folder);
  void resume_times();
  void write_checkpoint(const data::LoaderState& next, bool is_best);

  // --- session_run.cpp ---
  EndReason train(Session& session);
  /// Why the run is over, if it is.
  std::optional<EndReason> end() const;

  // --- session_report.cpp ---
  void finish(const std::string& status);
  std::string stop_text(int signal) const;
  void print(std::string_view line);
  RunTimes times() const;  // of all processes until now

  nn::Module& net;
  LossFunction loss;
  Trainer& trainer;
  data::DataLoader& loader;
  SessionOptions options;
  StepFunction step_function;
  std::vector<metric::MetricPtr> train_metrics, test_metrics;  // "loss" first
  Standing at;
  std::optional<RunFolder> folder;  // while it is being written
  std::optional<RunPaths> paths;
  std::string name;
  RunTimes before;  // what earlier processes took
  std::string last_checkpoint;
  std::unique_ptr<Progress> progress;
  PhaseClock clock;
  int64_t samples = 0;                      // trained on by this process
  std::map<int64_t, double> epoch_seconds;  // of epochs that this process ended
  bool stop_wanted = false;
  int signal = 0;

 private:
  void run_step(Session& session, const data::Batch& batch);
  void check_loss(double mean) const;
  void log(const char* part, const Figures& figures);
  void end_epoch(Session& session);
  void evaluate_now(Session& session);
  bool judge(const Figures& test);
  bool evaluation_is_due(bool epoch_ends) const;
  bool checkpoint_is_due(bool epoch_ends) const;
  std::string standing_text(bool epoch_ended, bool evaluated) const;
  void show_progress();
  bool greater_is_better() const;

  int64_t steps_of_epoch_ = 0;
  double last_checkpoint_time_ = 0;
  double epoch_began_ = 0;                  // or went on, by the clock
  std::optional<double> epoch_before_ = 0;  // seconds of this epoch in earlier processes
  double last_shown_ = -1;
  metric::MetricPtr step_loss_ = metric::loss();
};

/// The weights among a checkpoint's parts.
inline constexpr const char* kWeightPrefix = "weights/";

}  // namespace thalweg::train
