// What a session shows, and leaves in the run's folder at its end.

#include <csignal>
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

std::vector<ReportPhase> PhaseClock::report() const {
  std::vector<ReportPhase> phases;
  for (size_t i = 0; i < kPhases; ++i)
    if (calls_[i]) phases.push_back({kNames[i], seconds_[i], calls_[i]});
  return phases;
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
  std::string text =
      fmt::format("stopped by {} after step {}", by == SIGINT ? "SIGINT" : "SIGTERM", at.step);
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
  report.started = started;
  report.threads = num_threads();
  report.seed = default_random_state().seed;
  report.parameters = trainer.parameters().element_count();
  report.seconds = clock.total();
  const double training = clock.seconds(PhaseClock::data) + clock.seconds(PhaseClock::step);
  report.samples_per_s = training > 0 ? static_cast<double>(samples) / training : 0;
  report.final_figures = at.test.empty() ? at.train : at.test;
  add_curves(report, read_metrics(folder->paths().metrics));
  for (ReportEpoch& epoch : report.epochs) {
    const auto seconds = epoch_seconds.find(epoch.epoch);
    if (seconds != epoch_seconds.end()) epoch.seconds = seconds->second;
  }
  report.confusion = confusion_of(test_metrics, options.evaluation);
  report.phases = clock.report();
  if (options.complete_report) options.complete_report(report);
  write_report(folder->paths().report, report);
}

}  // namespace thalweg::train
