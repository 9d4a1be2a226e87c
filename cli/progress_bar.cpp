#include "cli/progress_bar.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include <thalweg/base/env.h>

namespace thalweg::cli {

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), is_terminal_(isatty(2) == 1 && env_string("TERM") != "dumb") {}

ProgressBar::~ProgressBar() {
  if (is_drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::update(int64_t done, int64_t all) {
  constexpr int64_t kWidth = 30;
  if (!is_terminal_ || all < 1) return;
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (is_drawn_ && now - last_ < 0.1) return;
  last_ = now;
  is_drawn_ = true;
  const auto full = static_cast<size_t>(std::min(kWidth, kWidth * done / all));
  fmt::print(stderr, "\r{} [{}{}] {:3} %\x1b[K", what_, std::string(full, '#'),
             std::string(kWidth - full, '.'), 100 * done / all);
  std::fflush(stderr);
}

}  // namespace thalweg::cli
