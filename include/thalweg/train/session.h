#pragma once

// The loop of training: batches, steps, evaluation, checkpoints, records of what happened.
//
//   train::Session session(net, loss, trainer, loader,
//                          {.epochs = 10, .metrics = {metric::accuracy()}, .evaluation = &test});
//   session.start_run("runs", "fashion-mnist", config_text);     // or session.resume(folder)
//   train::SessionResult result = session.run();
//
// A run that was killed and goes on from its folder ends with the same bits, weights and
// metrics.jsonl, as one that never stopped, whatever the time of its end.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <thalweg/data/loader.h>
#include <thalweg/nn/module.h>
#include <thalweg/train/averager.h>
#include <thalweg/train/checkpoint.h>
#include <thalweg/train/evaluate.h>
#include <thalweg/train/metrics.h>
#include <thalweg/train/progress.h>
#include <thalweg/train/report.h>
#include <thalweg/train/run_folder.h>
#include <thalweg/train/trainer.h>

namespace thalweg {
struct PlanOptions;
}

namespace thalweg::train {

class Session;

/// What a step leaves behind.
struct StepOutcome {
  Tensor loss;          ///< as the loss function gave it
  Tensor output;        ///< of the net
  bool updated = true;  ///< false if the trainer skipped the update
};

/// One step of training on a batch: forward, backward, update.
using StepFunction = std::function<StepOutcome(const data::Batch& batch)>;

/// A step op by op.
THALWEG_API StepFunction eager_step(nn::Module& net, LossFunction loss, Trainer& trainer);

/// The same steps as plans, one for each size of a batch, with the bits of eager_step: see
/// thalweg/graph/plan.h for what is replayed and what runs eagerly. A handle; net and trainer
/// outlive it.
class THALWEG_API PlannedStep {
 public:
  PlannedStep(nn::Module& net, LossFunction loss, Trainer& trainer);
  PlannedStep(nn::Module& net, LossFunction loss, Trainer& trainer, const PlanOptions& options);
  StepOutcome operator()(const data::Batch& batch) const;
  /// See Planned::explain.
  std::string explain() const;
  /// See Planned::diagram.
  Diagram diagram() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

/// Whether a figure is to grow or to shrink.
enum class Better : uint8_t { derived, greater, less };

struct MonitorOptions {
  std::string figure = "loss";      ///< of the evaluation, e.g. "accuracy"
  Better better = Better::derived;  ///< derived: what the metric of that name says
};

struct EarlyStopping {
  int64_t patience = 0;  ///< evaluations without an improvement before the end; 0: never ends
  double min_delta = 0;  ///< what counts as an improvement must be more than this
};

struct CheckpointOptions {
  int64_t every_steps = 0;   ///< 0: at the end of each epoch
  double every_minutes = 0;  ///< besides; 0: not by time
  int64_t keep_last = 3;     ///< 0: all
  bool keep_best = true;     ///< the one with the best monitored figure, as best.safetensors
};

/// Is told what happens; derive and override. The session may be asked and stopped from inside.
class THALWEG_API Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_step(Session&, const data::Batch&, const StepOutcome&) {}
  virtual void on_evaluation(Session&, const Figures&) {}
  virtual void on_epoch(Session&, const Figures& /*train*/) {}
  /// What it carries over a stop, under names of its own.
  virtual void save(Checkpoint&) const {}
  virtual void restore(const Checkpoint&) {}
};

struct SessionOptions {
  int64_t epochs = 1;
  int64_t max_steps = 0;  ///< ends after this many steps; 0: no limit
  /// Judged on training and on evaluation; "loss" comes before them by itself.
  std::vector<metric::MetricPtr> metrics = {};
  data::DataLoader* evaluation = nullptr;  ///< null: no evaluation
  int64_t evaluate_every_epochs = 1;       ///< 0: not by epochs; the last one is always evaluated
  int64_t evaluate_every_steps = 0;        ///< 0: not by steps
  MonitorOptions monitor = {};
  EarlyStopping early_stopping = {};
  CheckpointOptions checkpoints = {};
  WeightAverager* averager = nullptr;  ///< updated after each step; evaluation uses its averages
  int64_t log_every_steps = 10;        ///< steps between two lines of part "step"
  bool stop_at_nan = true;             ///< an Error{invalid} at the first loss that is not finite
  bool show_progress = true;
  ProgressOptions progress = {};
  /// The command that goes on, shown when a signal stops the run; {} stands for the folder.
  std::string resume_command = {};
  bool plan = true;  ///< PlannedStep, which leaves out what `loss` does besides; else eager_step
  int64_t memory_budget = 0;  ///< of the plan: PlanOptions::memory_budget
  StepFunction step = {};     ///< in place of both
  std::vector<std::shared_ptr<Callback>> callbacks = {};
  /// Completes the report before it is written: net, settings, confusion, ...
  std::function<void(ReportData&)> complete_report = {};
};

enum class EndReason : uint8_t { completed, max_steps, early_stopping, callback, signal };

struct SessionResult {
  EndReason reason = EndReason::completed;
  int signal = 0;                   ///< that stopped it, if reason is signal
  int64_t steps = 0;                ///< done in the whole run, earlier processes included
  double seconds = 0;               ///< of this process
  double samples_per_s = 0;         ///< while training, evaluation and checkpoints left out
  Figures train = {};               ///< of the last epoch that came to its end
  Figures test = {};                ///< of the last evaluation
  std::optional<double> best = {};  ///< value of the monitored figure
  int64_t best_step = 0;
};

/// Net, trainer and loaders belong to the caller and outlive the session.
class THALWEG_API Session {
 public:
  Session(nn::Module& net, LossFunction loss, Trainer& trainer, data::DataLoader& loader,
          SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Makes a run's folder, see RunFolder::create. Without it nothing is written.
  void start_run(const std::string& runs, const std::string& name, const std::string& config);
  /// Goes on in a run's folder from its newest checkpoint that is whole, or from its beginning if
  /// there is none yet. Throws Error{io} naming what is damaged or missing, or does not fit.
  void resume(const std::string& folder);
  /// Goes on from one checkpoint file, without a folder.
  void restore(const Checkpoint& checkpoint);

  /// Trains to the end, or until a signal. Writes checkpoints, model and report into the run's
  /// folder. Throws what steps and loaders throw, and Error{invalid} for a loss that is not finite,
  /// naming step and first parameter with such a gradient; the last checkpoint is there.
  SessionResult run();

  /// Ends the run after the step, or epoch, in progress.
  void stop();

  int64_t steps() const;  ///< done in the whole run
  int64_t epoch() const;  ///< in progress, counted from 1
  /// Why nothing is left to train; none while something is.
  std::optional<EndReason> end() const;
  /// The run's folder; null without one.
  const RunPaths* paths() const;
  nn::Module& net() const;
  Trainer& trainer() const;
  /// Where the time of this process went so far.
  std::vector<ReportPhase> phases() const;
  /// Shows a line above the progress.
  void print(std::string_view line);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::train
