// What a session shows, and leaves in the run's folder at its end.

#include <cstring>
#include <filesystem>

#include <thalweg/base/log.h>
#include <thalweg/base/random.h>
#include <thalweg/base/text.h>
#include <thalweg/base/threads.h>
#include <thalweg/model/parameters.h>

#include "base/fail.h"
#include "train/session_state.h"

namespace thalweg::train {
namespace {

std::string text_of(const Figures& figures) {
  std::string text;
  for (const Figure& figure : figures)
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : "  ", figure.name, figure.value);
  return text;
}

// The matrix of a metric called "confusion", if there is one.
ReportConfusion confusion_of(const std::vector<metric::MetricPtr>& metrics,
                             const data::DataLoader* loader) {
  ReportConfusion confusion;
  for (const metric::MetricPtr& metric : metrics) {
    if (metric->name() != "confusion" || metric->sums().empty()) continue;
    for (const double count : metric->sums())
      confusion.counts.push_back(static_cast<int64_t>(count + 0.5));
    size_t classes = 0;
    while (classes * classes < confusion.counts.size()) ++classes;
    confusion.classes = loader->class_names();
    for (size_t c = confusion.classes.size(); c < classes; ++c)
      confusion.classes.push_back(std::to_string(c));
    confusion.classes.resize(classes);
  }
  return confusion;
}

}  // namespace

std::vector<ReportPhase> phases_of(const PhaseTimes& times) {
  std::vector<ReportPhase> phases;
  for (size_t i = 0; i < kPhases; ++i)
    if (times.calls[i]) phases.push_back({kPhaseNames[i], times.seconds[i], times.calls[i]});
  return phases;
}

double speed_of(const PhaseTimes& times, int64_t samples) {
  const double training = times.seconds[PhaseClock::data] + times.seconds[PhaseClock::step];
  return training > 0 ? static_cast<double>(samples) / training : 0;
}

RunTimes Session::State::times() const {
  RunTimes times = before;
  times.step = at.step;
  times.samples += samples;
  times.seconds += clock.total();
  times.phases += clock.times();
  for (const auto& [epoch, seconds] : epoch_seconds) times.epochs[epoch] = seconds;
  times.epoch_part = epoch_before_;
  if (times.epoch_part) *times.epoch_part += clock.total() - epoch_began_;
  return times;
}

std::string Session::State::standing_text(bool epoch_ended, bool evaluated) const {
  std::string text = fmt::format("epoch {}/{}  step {}", at.epoch, options.epochs, at.step);
  if (epoch_ended) text += "  " + text_of(at.train);
  if (evaluated) text += "  | test " + text_of(at.test);
  return text;
}

void Session::State::print(std::string_view line) {
  if (progress) progress->print(line);
}

std::string Session::State::stop_text(int by) const {
  std::string text = fmt::format("stopped by SIG{} after step {}", ::sigabbrev_np(by), at.step);
  if (!paths) return text;
  text += fmt::format("; checkpoint {}", last_checkpoint);
  std::string command = options.resume_command;
  if (const size_t place = command.find("{}"); place != command.npos)
    command.replace(place, 2, shell_word(paths->folder));
  if (!command.empty()) text += fmt::format("\ngo on with: {}", command);
  return text;
}

// Model and report. `status` is the report's.
void Session::State::finish(const std::string& status) {
  if (!folder) return;
  ReportData report;
  report.title = name;
  report.status = status;
  const RunTimes total = times();
  report.started = total.started;
  for (const RunTimes::Resumption& other : total.resumed) {
    report.resumed += fmt::format("{}after step {}, {}", report.resumed.empty() ? "" : "; ",
                                  other.step, other.at);
  }
  report.threads = num_threads();
  report.seed = default_random_state().seed;
  report.parameters = trainer.parameters().element_count();
  report.seconds = total.seconds;
  report.samples_per_s = speed_of(total.phases, total.samples);
  report.final_figures = at.test.empty() ? at.train : at.test;
  add_curves(report, read_metrics(folder->paths().metrics));
  for (ReportEpoch& epoch : report.epochs) {
    const auto seconds = total.epochs.find(epoch.epoch);
    if (seconds != total.epochs.end()) epoch.seconds = seconds->second;
  }
  report.confusion = confusion_of(test_metrics, options.evaluation);
  report.phases = phases_of(total.phases);
  if (options.complete_report) options.complete_report(report);
  write_report(folder->paths().report, report);
  total.write(folder->paths().times);
}

}  // namespace thalweg::train
