#pragma once

#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

namespace thalweg::data {

inline size_t threads_of_process() {
  // The thread sanitizer starts a thread of its own beside the first of the program.
  static const bool first_started = (std::thread([] {}).join(), true);
  static_cast<void>(first_started);
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

/// Expects that no thread is left that was not there when this was made.
class NoNewThreads {
 public:
  void check() const {
    // The kernel lists a thread for a moment after it was joined.
    for (int i = 0; i < 1000 && threads_of_process() > before_; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_LE(threads_of_process(), before_);
  }

 private:
  size_t before_ = threads_of_process();
};

}  // namespace thalweg::data
