#pragma once

// The folder that a run leaves behind:
//
//   runs/<name>-<UTC time>/
//     config.toml                the settings it ran with
//     metrics.jsonl              a JSON object a line:
//                                {"step":938,"epoch":1,"part":"test","loss":0.52}
//     events.out.tfevents.*      the same for TensorBoard
//     checkpoints/               what it goes on from
//     model.safetensors          the trained net
//     times.json                 where the time went, for the page of a run that went on
//     report.html                the page for people
//
// A run that goes on after a stop ends with the same metrics.jsonl as one that never stopped: it
// holds no times.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/base/export.h>
#include <thalweg/train/figures.h>

namespace thalweg::train {

/// Where things are in a run's folder.
struct THALWEG_API RunPaths {
  explicit RunPaths(const std::string& folder);
  std::string folder, config, metrics, checkpoints, model, report, times, profile;
};

/// A line of metrics.jsonl.
struct MetricsLine {
  int64_t step = 0;   ///< steps done in the whole run
  int64_t epoch = 0;  ///< counted from 1
  /// What was measured: "step", one minibatch, or "train" and "test", the means over an epoch. With
  /// a figure's name it is TensorBoard's tag, e.g. "test/accuracy".
  std::string part = {};
  Figures figures = {};  ///< not finite ones are the strings "nan", "inf" and "-inf" in the file
};

/// The lines of a metrics.jsonl. A last line without an end, which a killed run may leave, is
/// skipped. Throws Error io, with file and line, if the file cannot be read or another line is not
/// what log() writes.
THALWEG_API std::vector<MetricsLine> read_metrics(const std::string& path);

/// A run's folder that is being written, by one process and one thread at a time.
class THALWEG_API RunFolder {
 public:
  /// Makes `<runs>/<name>-<UTC time>` with `config` in it; if that is there already, "-2", "-3" ...
  /// is appended. Characters of `name` other than letters, digits, '.', '_' and '-' become '-'.
  /// Throws Error io if the folder cannot be made or written.
  static RunFolder create(const std::string& runs, std::string_view name, std::string_view config);

  /// Opens the folder of a run that goes on after `step`: metrics and events of later steps are
  /// removed. Throws Error io if it is not a run's folder, is damaged, or another process is
  /// writing it; nothing is changed then.
  static RunFolder resume(const std::string& folder, int64_t step);

  ~RunFolder();
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;

  const RunPaths& paths() const;

  /// Appends a line to metrics.jsonl, which is with the operating system on return, and an event.
  /// Steps must not decrease. Throws Error io if it cannot be written; the lines before it stay
  /// whole.
  void log(const MetricsLine& line);

  /// Puts what was logged on the disk. Call it before a checkpoint is written: metrics must not end
  /// before it.
  void sync();

 private:
  class State;
  explicit RunFolder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::train
