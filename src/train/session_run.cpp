// A session's loop. The order of what happens after a step is fixed: records of the step,
// evaluation, end of the epoch, then the checkpoint, so that a checkpoint has all of its step
// behind it and a run that goes on from it repeats nothing and leaves nothing out.

#include <algorithm>
#include <cmath>

#include <thalweg/base/signal.h>

#include "base/fail.h"
#include "train/on_device.h"
#include "train/session_state.h"

namespace thalweg::train {
namespace {

std::string names_of(const Figures& figures) {
  std::string names;
  for (const Figure& figure : figures) names += (names.empty() ? "" : ", ") + figure.name;
  return names;
}

}  // namespace

EndReason Session::State::train(Session& session) {
  const StopRequest stop;
  while (!end()) {
    epoch_began_ = clock.total();
    if (at.epoch_step == 0) epoch_before_ = 0;
    data::DataLoader::Iterator it = loader.begin();
    clock.end(PhaseClock::data);
    if (it == loader.end())
      fail_invalid("session: the loader gives no batch; the data, {}, have too few samples",
                   loader.name());
    steps_of_epoch_ = loader.size();
    for (bool epoch_ends = false; !epoch_ends && !end();) {
      run_step(session, *it);
      data::LoaderState next = loader.state();
      ++it;
      epoch_ends = it == loader.end();
      if (epoch_ends) next = loader.state();
      clock.end(PhaseClock::data);
      signal = stop.signal();
      const int64_t best_before = at.best_step;
      const bool evaluates = evaluation_is_due(epoch_ends);
      if (epoch_ends) end_epoch(session);
      if (evaluates) evaluate_now(session);
      if (epoch_ends || evaluates) print(standing_text(epoch_ends, evaluates));
      if (epoch_ends) {
        if (epoch_before_) epoch_seconds[at.epoch] = *epoch_before_ + clock.total() - epoch_began_;
        ++at.epoch;
        at.epoch_step = 0;
        epoch_began_ = clock.total();
        epoch_before_ = 0;
      }
      const bool is_best = at.best_step != best_before;
      if (is_best || end() || checkpoint_is_due(epoch_ends)) {
        write_checkpoint(next, is_best);
        clock.end(PhaseClock::checkpoint);
      }
    }
  }
  return *end();
}

void Session::State::run_step(Session& session, const data::Batch& batch) {
  const double rate = trainer.learning_rate();
  const StepOutcome outcome = with_batch_on(device_of(trainer.parameters()), batch, step_function);
  clock.end(PhaseClock::step);
  ++at.step;
  ++at.epoch_step;
  samples += batch.size;
  const Observation seen{
      .output = on_host(outcome.output), .label = batch.label, .loss = on_host(outcome.loss)};
  step_loss_->reset();
  step_loss_->update(seen);
  const double mean = step_loss_->value();
  check_loss(mean);
  train_metrics[0]->merge(*step_loss_);
  for (size_t i = 1; i < train_metrics.size(); ++i) train_metrics[i]->update(seen);
  if (options.averager) options.averager->update();
  if (at.step == 1 || at.step % options.log_every_steps == 0)
    log("step", {{"loss", mean}, {"learning_rate", rate}});
  for (const auto& callback : options.callbacks) callback->on_step(session, batch, outcome);
  show_progress();
  clock.end(PhaseClock::other);
}

void Session::State::check_loss(double mean) const {
  if (std::isfinite(mean) || !options.stop_at_nan) return;
  const std::string first = trainer.first_non_finite_gradient();
  fail_invalid(
      "session: the loss is {} at step {} (epoch {}); {}; try a lower learning rate or "
      "clip_norm; the last checkpoint is {}",
      mean, at.step, at.epoch,
      first.empty() ? "all gradients are finite"
                    : "the first parameter with a gradient that is not finite is " + first,
      last_checkpoint.empty() ? "none" : last_checkpoint);
}

void Session::State::log(const char* part, const Figures& figures) {
  if (folder) folder->log({at.step, at.epoch, part, figures});
}

void Session::State::end_epoch(Session& session) {
  at.train = figures_of(train_metrics);
  log("train", at.train);
  for (const metric::MetricPtr& metric : train_metrics) metric->reset();
  for (const auto& callback : options.callbacks) callback->on_epoch(session, at.train);
  clock.end(PhaseClock::other);
}

void Session::State::evaluate_now(Session& session) {
  for (const metric::MetricPtr& metric : test_metrics) metric->reset();
  if (progress) {
    progress->update({.epoch = at.epoch,
                      .epochs = options.epochs,
                      .step = at.epoch_step,
                      .steps = steps_of_epoch_,
                      .samples = samples,
                      .phase = "evaluation"});
  }
  // Always the same order of samples, whatever was evaluated before.
  options.evaluation->set_epoch(options.evaluation->options().epoch);
  if (options.averager) options.averager->swap();
  try {
    evaluate(net, *options.evaluation, loss, test_metrics);
  } catch (...) {
    if (options.averager) options.averager->swap();
    throw;
  }
  if (options.averager) options.averager->swap();
  at.test = figures_of(test_metrics);
  log("test", at.test);
  if (judge(at.test)) at.best_step = at.step;
  for (const auto& callback : options.callbacks) callback->on_evaluation(session, at.test);
  clock.end(PhaseClock::evaluation);
}

// True if the monitored figure is better than ever. Patience counts from the last value that was
// better by min_delta, so that many small gains together are one.
bool Session::State::judge(const Figures& test) {
  const auto found = std::find_if(test.begin(), test.end(), [&](const Figure& figure) {
    return figure.name == options.monitor.figure;
  });
  if (found == test.end())
    fail_invalid("session: the evaluation has no figure '{}' to monitor; it has {}",
                 options.monitor.figure, names_of(test));
  const double value = found->value;
  const double sign = greater_is_better() ? 1 : -1;
  const auto gains = [&](const std::optional<double>& from, double least) {
    return std::isfinite(value) && (!from || sign * (value - *from) > least);
  };
  if (gains(at.patience_from, options.early_stopping.min_delta)) {
    at.patience_from = value;
    at.without_improvement = 0;
  } else {
    ++at.without_improvement;
  }
  if (!gains(at.best, 0)) return false;
  at.best = value;
  return true;
}

bool Session::State::greater_is_better() const {
  if (options.monitor.better != Better::derived) return options.monitor.better == Better::greater;
  for (const metric::MetricPtr& metric : test_metrics) {
    if (metric->name() == options.monitor.figure) return metric->greater_is_better();
  }
  fail_invalid("session: it is not known whether more of '{}' is better; set .monitor.better",
               options.monitor.figure);
}

bool Session::State::evaluation_is_due(bool epoch_ends) const {
  if (!options.evaluation) return false;
  if (options.evaluate_every_steps > 0 && at.step % options.evaluate_every_steps == 0) return true;
  if (options.max_steps > 0 && at.step >= options.max_steps) return true;
  if (!epoch_ends) return false;
  const int64_t every = options.evaluate_every_epochs;
  return at.epoch >= options.epochs || (every > 0 && at.epoch % every == 0);
}

bool Session::State::checkpoint_is_due(bool epoch_ends) const {
  const CheckpointOptions& o = options.checkpoints;
  if (o.every_steps > 0 ? at.step % o.every_steps == 0 : epoch_ends) return true;
  return o.every_minutes > 0 && clock.total() - last_checkpoint_time_ >= 60 * o.every_minutes;
}

std::optional<EndReason> Session::State::end() const {
  if (signal) return EndReason::signal;
  if (at.epoch > options.epochs) return EndReason::completed;
  if (options.max_steps > 0 && at.step >= options.max_steps) return EndReason::max_steps;
  if (options.early_stopping.patience > 0 &&
      at.without_improvement >= options.early_stopping.patience)
    return EndReason::early_stopping;
  if (stop_wanted) return EndReason::callback;
  return std::nullopt;
}

// At most every twentieth of a second: making the figures has its cost.
void Session::State::show_progress() {
  if (!progress || clock.total() - last_shown_ < 0.05) return;
  last_shown_ = clock.total();
  ProgressState shown{.epoch = at.epoch,
                      .epochs = options.epochs,
                      .step = at.epoch_step,
                      .steps = steps_of_epoch_,
                      .samples = samples};
  const Figures figures = figures_of(train_metrics);
  shown.loss = value_of(figures, "loss", shown.loss);
  shown.accuracy = value_of(figures, "accuracy", shown.accuracy);
  progress->update(shown);
}

}  // namespace thalweg::train
