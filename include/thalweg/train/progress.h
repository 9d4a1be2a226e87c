#pragma once

// What a person sees while training runs: on a terminal one line that is drawn again and again,
// elsewhere (a file, a pipe, a CI log) whole lines at long intervals. The formatting is pure
// functions; the class only decides when to write and where.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <thalweg/base/export.h>

namespace thalweg::train {

/// Where the run stands after a step.
struct ProgressState {
  int64_t epoch = 1;    ///< the epoch in progress, counted from 1
  int64_t epochs = 1;   ///< how many there will be
  int64_t step = 0;     ///< steps done in this epoch
  int64_t steps = 0;    ///< steps of an epoch, 0 where the data's length is unknown
  int64_t samples = 0;  ///< samples seen since this process began; gives samples/s
  double loss = std::numeric_limits<double>::quiet_NaN();      ///< NaN is shown while training
  double accuracy = std::numeric_limits<double>::quiet_NaN();  ///< not shown if NaN
  std::string_view phase = {};  ///< what is done if not training, e.g. "evaluation"
};

/// How fast the run is; NaN where not known yet.
struct ProgressRates {
  double samples_per_s = std::numeric_limits<double>::quiet_NaN();
  double seconds_left = std::numeric_limits<double>::quiet_NaN();
};

/// Measures ProgressRates: samples/s over the last seconds, the time left from all steps so far (so
/// that evaluation and checkpoints count). `now` is any monotonic clock in seconds.
class THALWEG_API ProgressMeter {
 public:
  void update(double now, const ProgressState& state);
  bool started() const { return started_; }
  const ProgressRates& rates() const { return rates_; }

 private:
  bool started_ = false;
  double first_time_ = 0, last_time_ = 0;
  int64_t first_step_ = 0, last_samples_ = 0;
  ProgressRates rates_;
};

/// How a terminal wants its line.
struct ProgressStyle {
  int width = 80;        ///< columns; the line stays below it
  bool colour = false;   ///< ANSI colours
  bool unicode = false;  ///< a finer bar than ASCII's
};

/// The line of a terminal, at most width - 1 columns: what does not fit is left out, the least
/// needed first.
THALWEG_API std::string format_progress(const ProgressState& state, const ProgressRates& rates,
                                        const ProgressStyle& style);

/// The line of a log: `epoch 3/10  step 412/938  loss 0.3127  accuracy 0.8870  ...`.
THALWEG_API std::string format_progress_plain(const ProgressState& state,
                                              const ProgressRates& rates);

struct ProgressOptions {
  int fd = 2;                      ///< the file descriptor that is written to: standard error
  int result_fd = -1;              ///< what print() writes to, if no terminal; below 0: fd
  double terminal_interval = 0.1;  ///< seconds between two drawings on a terminal
  double plain_interval = 30;      ///< seconds between two lines elsewhere
};

/// Shows progress on a file descriptor. It is a terminal's if isatty() says so and TERM is not
/// "dumb". NO_COLOR (if not empty) switches colours off. The width is asked anew at each drawing,
/// so a resized window needs no signal handler. On a terminal it is the log's sink while it lives,
/// and puts the log's lines above its own. What cannot be written is dropped: a closed terminal
/// must not end a run.
class THALWEG_API Progress {
 public:
  explicit Progress(const ProgressOptions& options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// To be called after every step; writes only if the interval has passed.
  void update(const ProgressState& state);

  /// Writes a line of its own, an epoch's result, above the moving one. Where result_fd is another
  /// descriptor: there, and on fd as well only if fd is a terminal and result_fd is none.
  void print(std::string_view line);

  /// Takes the moving line away. Nothing is shown until the next update().
  void finish();

  ProgressRates rates() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::train
