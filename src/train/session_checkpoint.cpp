// A session's checkpoints: what they hold, and going on from them.

#include <cmath>
#include <filesystem>
#include <limits>

#include <thalweg/base/log.h>
#include <thalweg/base/random.h>

#include "base/fail.h"
#include "train/session_state.h"

namespace thalweg::train {
namespace {

// Figures as tensor and names, so that every bit is kept.
void put_figures(Checkpoint& checkpoint, const std::string& part, const Figures& figures) {
  std::string names;
  for (const Figure& figure : figures) {
    names += figure.name + '\n';
    checkpoint.put(part + '/' + figure.name, figure.value);
  }
  checkpoint.put(part, names);
}

Figures figures_from(const Checkpoint& checkpoint, const std::string& part) {
  Figures figures;
  std::string_view names = checkpoint.text(part);
  while (!names.empty()) {
    const size_t end = names.find('\n');
    const std::string name(names.substr(0, end));
    figures.push_back({name, checkpoint.number(part + '/' + name)});
    names.remove_prefix(end == names.npos ? names.size() : end + 1);
  }
  return figures;
}

// NaN stands for none: no such value is kept.
void put_optional(Checkpoint& checkpoint, const std::string& part, std::optional<double> value) {
  checkpoint.put(part, value.value_or(std::numeric_limits<double>::quiet_NaN()));
}

std::optional<double> optional_from(const Checkpoint& checkpoint, const std::string& part) {
  const double value = checkpoint.number(part);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

void put_loader(Checkpoint& checkpoint, const data::LoaderState& state) {
  checkpoint.put("loader/seed", state.seed);
  checkpoint.put("loader/epoch", state.epoch);
  checkpoint.put("loader/position", state.position);
  checkpoint.put("loader/carried", state.carried);
  checkpoint.put("loader/samples", state.samples);
  if (!state.source.empty()) checkpoint.put("loader/source", state.source);
}

data::LoaderState loader_from(const Checkpoint& checkpoint) {
  return {checkpoint.bits("loader/seed"),
          checkpoint.integer("loader/epoch"),
          checkpoint.integer("loader/position"),
          checkpoint.integer("loader/carried"),
          checkpoint.integer("loader/samples"),
          checkpoint.has("loader/source") ? std::string(checkpoint.text("loader/source")) : ""};
}

std::string metric_part(size_t i, const Metric& metric) {
  return fmt::format("metric/{}/{}", i, metric.name());
}

void require_weights(const nn::ParameterList& parameters, const Checkpoint& checkpoint) {
  for (const nn::NamedParameter& item : parameters) checkpoint.tensor(kWeightPrefix + item.name);
  for (const std::string& part : checkpoint.tensors_in(kWeightPrefix)) {
    if (!parameters.contains(std::string_view(part).substr(std::string_view(kWeightPrefix).size())))
      fail_io("checkpoint: {} holds {}; the net has no such parameter", checkpoint.path(), part);
  }
}

}  // namespace

void load_weights(nn::Module& net, const Checkpoint& checkpoint) {
  const nn::ParameterList parameters = net.parameters();
  require_weights(parameters, checkpoint);
  for (const nn::NamedParameter& item : parameters)
    item.parameter.set_data(checkpoint.tensor(kWeightPrefix + item.name), item.name);
}

void Standing::save(Checkpoint& checkpoint) const {
  checkpoint.put("session/step", step);
  checkpoint.put("session/epoch", epoch);
  checkpoint.put("session/epoch_step", epoch_step);
  put_optional(checkpoint, "session/best", best);
  put_optional(checkpoint, "session/patience_from", patience_from);
  checkpoint.put("session/best_step", best_step);
  checkpoint.put("session/without_improvement", without_improvement);
  put_figures(checkpoint, "session/train", train);
  put_figures(checkpoint, "session/test", test);
}

void Standing::restore(const Checkpoint& checkpoint) {
  step = checkpoint.integer("session/step");
  epoch = checkpoint.integer("session/epoch");
  epoch_step = checkpoint.integer("session/epoch_step");
  best = optional_from(checkpoint, "session/best");
  patience_from = optional_from(checkpoint, "session/patience_from");
  best_step = checkpoint.integer("session/best_step");
  without_improvement = checkpoint.integer("session/without_improvement");
  train = figures_from(checkpoint, "session/train");
  test = figures_from(checkpoint, "session/test");
}

Checkpoint Session::State::snapshot(const data::LoaderState& next) const {
  Checkpoint checkpoint;
  for (const nn::NamedParameter& item : net.parameters()) {
    if (item.parameter.has_data()) checkpoint.put(kWeightPrefix + item.name, item.parameter.data());
  }
  trainer.save(checkpoint);
  if (options.averager) options.averager->save(checkpoint);
  at.save(checkpoint);
  put_loader(checkpoint, next);
  const RandomState random = default_random_state();
  checkpoint.put("random/seed", random.seed);
  checkpoint.put("random/offset", random.offset);
  for (size_t i = 0; i < train_metrics.size(); ++i)
    checkpoint.put(metric_part(i, *train_metrics[i]), Tensor::of(train_metrics[i]->sums()));
  for (const auto& callback : options.callbacks) callback->save(checkpoint);
  return checkpoint;
}

// Everything is looked up before weights are changed, as far as that can be known.
void Session::State::restore(const Checkpoint& checkpoint) {
  Standing standing;
  standing.restore(checkpoint);
  const data::LoaderState next = loader_from(checkpoint);
  const RandomState random{checkpoint.bits("random/seed"), checkpoint.bits("random/offset")};
  require_weights(net.parameters(), checkpoint);
  std::vector<std::vector<double>> sums;
  for (size_t i = 0; i < train_metrics.size(); ++i)
    sums.push_back(checkpoint.tensor(metric_part(i, *train_metrics[i])).to_vector<double>());

  loader.restore(next);
  load_weights(net, checkpoint);
  trainer.restore(checkpoint);
  if (options.averager) options.averager->restore(checkpoint);
  for (size_t i = 0; i < train_metrics.size(); ++i) train_metrics[i]->set_sums(sums[i]);
  for (const auto& callback : options.callbacks) callback->restore(checkpoint);
  at = std::move(standing);
  set_default_random_state(random);
}

void Session::State::resume(const std::string& path) {
  const CheckpointFolder checkpoints(RunPaths(path).checkpoints);
  if (!checkpoints.steps().empty()) {
    const Checkpoint checkpoint = checkpoints.newest();
    restore(checkpoint);
    last_checkpoint = checkpoint.path();
  } else {
    thalweg::log(
        LogLevel::warn,
        fmt::format("session: there is no checkpoint in {} yet; the run begins anew", path));
  }
  folder.emplace(RunFolder::resume(path, at.step));
  paths = folder->paths();
  name = path;
  resume_times();
}

// The report is poorer without them, the run is not.
void Session::State::resume_times() {
  const std::string now = before.started;
  if (std::filesystem::exists(paths->times)) {
    try {
      before = RunTimes::read(paths->times);
    } catch (const Error& error) {
      thalweg::log(LogLevel::warn,
                   fmt::format("{}; the report will lack the times until now", error.what()));
    }
  }
  before.go_on(at.step, at.epoch, now);
  epoch_before_ = before.epoch_part;
}

void Session::State::write_checkpoint(const data::LoaderState& next, bool is_best) {
  if (!folder) return;
  folder->sync();  // what is recorded must not end before the checkpoint
  const CheckpointFolder checkpoints(folder->paths().checkpoints,
                                     {.keep_last = options.checkpoints.keep_last});
  const Checkpoint checkpoint = snapshot(next);
  // The best one first: a kill in between finds the older checkpoint, and writes both anew.
  if (is_best && options.checkpoints.keep_best) checkpoints.write_best(checkpoint);
  last_checkpoint = checkpoints.write(at.step, checkpoint);
  times().write(folder->paths().times);
  last_checkpoint_time_ = clock.total();
}

}  // namespace thalweg::train
