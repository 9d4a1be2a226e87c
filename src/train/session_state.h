#pragma once

// What a session remembers, and its parts.

#include <array>
#include <map>

#include <thalweg/base/clock.h>
#include <thalweg/graph/profile.h>
#include <thalweg/train/session.h>

namespace thalweg::train {

/// Adds up the main thread's time by what it is spent on.
class PhaseClock {
 public:
  enum Phase : uint8_t { data, step, evaluation, checkpoint, other };
  static constexpr size_t kPhases = 5;
  static constexpr const char* kNames[kPhases] = {"data", "step", "evaluation", "checkpoint",
                                                  "records"};

  /// The time since the last call belongs to `phase`.
  void end(Phase phase) {
    const double now = watch_.seconds();
    note_stretch(kNames[phase], now - last_);
    seconds_[phase] += now - last_;
    ++calls_[phase];
    last_ = now;
  }
  double seconds(Phase phase) const { return seconds_[phase]; }
  double total() const { return watch_.seconds(); }
  std::vector<ReportPhase> report() const;

 private:
  Stopwatch watch_;
  double last_ = 0;
  std::array<double, kPhases> seconds_ = {};
  std::array<int64_t, kPhases> calls_ = {};
};

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
  void write_checkpoint(const data::LoaderState& next, bool is_best);

  // --- session_run.cpp ---
  EndReason train(Session& session);

  // --- session_report.cpp ---
  void finish(const std::string& status);
  std::string stop_text(int signal) const;
  void print(std::string_view line);

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
  std::string started;
  std::string last_checkpoint;
  std::unique_ptr<Progress> progress;
  PhaseClock clock;
  int64_t samples = 0;                      // trained on by this process
  std::map<int64_t, double> epoch_seconds;  // of whole epochs in this process, evaluation included
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
  /// Why the run is over, if it is.
  std::optional<EndReason> end() const;
  std::string standing_text(bool epoch_ended, bool evaluated) const;
  void show_progress();
  bool greater_is_better() const;

  int64_t steps_of_epoch_ = 0;
  double last_checkpoint_time_ = 0;
  double last_shown_ = -1;
  metric::MetricPtr step_loss_ = metric::loss();
};

/// The weights among a checkpoint's parts.
inline constexpr const char* kWeightPrefix = "weights/";

}  // namespace thalweg::train
