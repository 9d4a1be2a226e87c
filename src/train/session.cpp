#include <chrono>

#include <thalweg/base/log.h>
#include <thalweg/graph/plan.h>
#include <thalweg/model/parameters.h>
#include <thalweg/train/session.h>

#include "base/fail.h"
#include "train/session_state.h"

namespace thalweg::train {
namespace {

void require_not_negative(const char* option, double value) {
  if (!(value >= 0)) fail_invalid("session: {} is {}; it must not be negative", option, value);
}

void check_options(const SessionOptions& o) {
  require_not_negative("epochs", static_cast<double>(o.epochs));
  require_not_negative("max_steps", static_cast<double>(o.max_steps));
  require_not_negative("evaluate_every_epochs", static_cast<double>(o.evaluate_every_epochs));
  require_not_negative("evaluate_every_steps", static_cast<double>(o.evaluate_every_steps));
  require_not_negative("early_stopping.patience", static_cast<double>(o.early_stopping.patience));
  require_not_negative("early_stopping.min_delta", o.early_stopping.min_delta);
  require_not_negative("checkpoints.every_steps", static_cast<double>(o.checkpoints.every_steps));
  require_not_negative("checkpoints.every_minutes", o.checkpoints.every_minutes);
  require_not_negative("checkpoints.keep_last", static_cast<double>(o.checkpoints.keep_last));
  if (o.log_every_steps < 1)
    fail_invalid("session: log_every_steps is {}; at least 1", o.log_every_steps);
  if (o.early_stopping.patience > 0 && !o.evaluation)
    fail_invalid("session: early stopping needs an evaluation; set .evaluation");
}

// "loss" and then those that the user named, without sums.
std::vector<metric::MetricPtr> fresh_metrics(const std::vector<metric::MetricPtr>& from) {
  std::vector<metric::MetricPtr> metrics{metric::loss()};
  for (const metric::MetricPtr& metric : from) {
    if (!metric) fail_invalid("session: a metric is null");
    if (metric->name() == "loss") continue;
    for (const metric::MetricPtr& other : metrics) {
      if (metric->name() == other->name())
        fail_invalid("session: the metric '{}' is given twice", metric->name());
    }
    metrics.push_back(metric->fresh());
  }
  return metrics;
}

const char* status_of(EndReason reason) {
  switch (reason) {
    case EndReason::completed:
      return "finished";
    case EndReason::max_steps:
      return "finished: the limit of steps";
    case EndReason::early_stopping:
      return "finished: no more improvement";
    case EndReason::callback:
      return "finished: stopped by a callback";
    case EndReason::signal:
      break;
  }
  return "stopped by a signal";
}

}  // namespace

Session::State::State(nn::Module& net, LossFunction loss, Trainer& trainer,
                      data::DataLoader& loader, SessionOptions session_options)
    : net(net),
      loss(std::move(loss)),
      trainer(trainer),
      loader(loader),
      options(std::move(session_options)),
      step_function(options.step ? options.step
                    : options.plan
                        ? StepFunction(PlannedStep(net, this->loss, trainer,
                                                   {.memory_budget = options.memory_budget}))
                        : eager_step(net, this->loss, trainer)),
      train_metrics(fresh_metrics(options.metrics)),
      test_metrics(fresh_metrics(options.metrics)),
      name("training") {
  before.started = format_utc(std::chrono::system_clock::now());
  if (!this->loss) fail_invalid("session: there is no loss function");
  check_options(options);
}

Session::Session(nn::Module& net, LossFunction loss, Trainer& trainer, data::DataLoader& loader,
                 SessionOptions options)
    : state_(std::make_unique<State>(net, std::move(loss), trainer, loader, std::move(options))) {}
Session::~Session() = default;

void Session::start_run(const std::string& runs, const std::string& name,
                        const std::string& config) {
  state_->folder.emplace(RunFolder::create(runs, name, config));
  state_->paths = state_->folder->paths();
  state_->name = name;
}

void Session::resume(const std::string& folder) { state_->resume(folder); }
void Session::restore(const Checkpoint& checkpoint) { state_->restore(checkpoint); }

SessionResult Session::run() {
  State& s = *state_;
  if (s.options.show_progress) s.progress = std::make_unique<Progress>(s.options.progress);
  s.clock = PhaseClock();
  SessionResult result;
  try {
    result.reason = s.train(*this);
    if (s.folder) {
      if (s.options.averager) s.options.averager->swap();
      model::save_parameters(s.net, s.folder->paths().model);
      if (s.options.averager) s.options.averager->swap();
      s.folder->sync();
    }
    s.finish(status_of(result.reason));
  } catch (const Error& error) {
    s.progress.reset();
    try {
      s.finish(fmt::format("failed: {}", error.what()));
    } catch (const Error& another) {
      log(LogLevel::warn, another.what());
    }
    throw;
  }
  if (s.progress) s.progress->finish();
  s.progress.reset();
  s.folder.reset();  // others may go on in it
  if (result.reason == EndReason::signal) log(LogLevel::warn, s.stop_text(s.signal));
  result.signal = s.signal;
  result.steps = s.at.step;
  result.seconds = s.clock.total();
  result.samples_per_s = speed_of(s.clock.times(), s.samples);
  result.train = s.at.train;
  result.test = s.at.test;
  result.best = s.at.best;
  result.best_step = s.at.best_step;
  return result;
}

void Session::stop() { state_->stop_wanted = true; }
int64_t Session::steps() const { return state_->at.step; }
int64_t Session::epoch() const { return state_->at.epoch; }
std::optional<EndReason> Session::end() const { return state_->end(); }
const RunPaths* Session::paths() const { return state_->paths ? &*state_->paths : nullptr; }
nn::Module& Session::net() const { return state_->net; }
Trainer& Session::trainer() const { return state_->trainer; }
std::vector<ReportPhase> Session::phases() const { return phases_of(state_->clock.times()); }
void Session::print(std::string_view line) { state_->print(line); }

}  // namespace thalweg::train
