#pragma once

// The page that a run leaves behind: one HTML file that opens from anywhere and needs no network.
// Whoever trains fills ReportData; parts that are left empty are left out of the page. Every text
// may come from a user or a data set: it is escaped.

#include <cstdint>
#include <string>
#include <vector>

#include <thalweg/base/export.h>
#include <thalweg/graph/diagram.h>
#include <thalweg/train/figures.h>
#include <thalweg/train/run_folder.h>

namespace thalweg::train {

/// What was measured on one minibatch.
struct ReportStep {
  int64_t step = 0;  ///< counted over the whole run, the first is 1
  double loss = 0;
  double learning_rate = 0;
};

/// What was measured over one epoch. A figure of the same name in both lists shares a chart.
struct ReportEpoch {
  int64_t epoch = 0;   ///< counted from 1
  int64_t step = 0;    ///< steps of the whole run at the epoch's end
  double seconds = 0;  ///< evaluation included; 0: not shown
  Figures train = {};  ///< e.g. {{"loss", 0.31}, {"accuracy", 0.88}}
  Figures test = {};
};

/// How often each class was taken for which.
struct ReportConfusion {
  std::vector<std::string> classes = {};  ///< [n] names
  std::vector<int64_t> counts = {};       ///< [n, n], row: true class, column: predicted class
};

/// A sample that the net got wrong.
struct ReportImage {
  int64_t index = 0;  ///< of the sample in its data set
  int64_t height = 0, width = 0;
  int64_t channels = 1;              ///< 1: grey, 3: RGB
  std::vector<uint8_t> pixels = {};  ///< [height, width, channels]
  std::string truth = {}, predicted = {};
  double probability = 0;        ///< that the net gave to `predicted`
  double truth_probability = 0;  ///< that it gave to `truth`
};

struct ReportSetting {
  std::string key = {};    ///< e.g. "optimizer.learning_rate"
  std::string value = {};  ///< e.g. "0.1"
};

/// Where the time went.
struct ReportPhase {
  std::string name = {};  ///< "data", "forward", "backward", "update", "evaluation", ...
  double seconds = 0;     ///< of the main thread
  int64_t calls = 0;
};

/// All that write_report() shows.
struct ReportData {
  std::string title = {};           ///< the recipe's name
  std::string status = "finished";  ///< or e.g. "interrupted at step 1,200"
  std::string started = {};         ///< UTC, e.g. "2026-03-01 12:30:05 UTC"
  std::string command = {};         ///< the command line
  std::string resumed = {};         ///< after which steps and when it went on; "": in one go
  std::string data = {};            ///< e.g. "mnist, 60,000 samples to train on"
  std::string version = {};         ///< Thalweg's
  std::string device = {};          ///< e.g. "cpu (AMD EPYC 9654)"
  int threads = 0;                  ///< 0: not shown
  uint64_t seed = 0;
  int64_t parameters = 0;    ///< trained numbers of the net; 0: not shown
  double seconds = 0;        ///< of the whole run
  double samples_per_s = 0;  ///< while training; 0: not shown
  /// The result, shown large, as elements with the ids `final-<name>` (lower case, '-' for all but
  /// letters and digits).
  Figures final_figures = {};
  std::vector<ReportStep> steps = {};
  std::vector<ReportEpoch> epochs = {};
  ReportConfusion confusion = {};
  std::vector<ReportImage> worst = {};  ///< the worst first
  Diagram net = {};
  std::vector<ReportSetting> settings = {};
  std::vector<ReportPhase> phases = {};
};

/// The steps and epochs of a run from its metrics: of the part "step" the figures "loss" and
/// "learning_rate" (0 where there is none), of "train" and "test" all. That they come from a file
/// and not from memory makes the page of a resumed run whole; the file holds no times.
THALWEG_API void add_curves(ReportData& data, const std::vector<MetricsLine>& lines);

/// The page as text. All figures are in it once more as JSON, in the element with the id
/// "thalweg-run"; more than 1,500 steps are condensed to as many runs of equal length, each with
/// the mean, least and largest loss. Throws Error invalid if the parts contradict each other: a
/// confusion matrix that is not [n, n], pixels that do not fill their image, an edge to a node that
/// is not there, a cycle in the net.
THALWEG_API std::string render_report(const ReportData& data);

/// Writes render_report(data) to the file `path`, which is replaced as a whole or not at all.
/// Throws Error io if that fails.
THALWEG_API void write_report(const std::string& path, const ReportData& data);

}  // namespace thalweg::train
