#pragma once

#include <cstdint>
#include <string>

namespace thalweg::cli {

/// How far a long piece of work is: one line that is drawn over on a terminal, nothing elsewhere.
class ProgressBar {
 public:
  /// `what` goes before the bar.
  explicit ProgressBar(std::string what);
  /// Wipes the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of `all`; draws at most ten times a second.
  void update(int64_t done, int64_t all);

 private:
  std::string what_;
  bool is_terminal_;
  bool is_drawn_ = false;
  double last_ = 0;
};

}  // namespace thalweg::cli
