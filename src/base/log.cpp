#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <unistd.h>

#include <thalweg/base/env.h>
#include <thalweg/base/log.h>

namespace thalweg {
namespace {

struct Log {
  std::mutex mutex;
  LogSink* sink = nullptr;
  std::set<std::string, std::less<>> warned;
};

// Never destroyed: destructors of other static objects may still log.
Log& the_log() {
  static Log& instance = *new Log;
  return instance;
}

std::atomic<int>& level_setting() {
  static std::atomic<int> level(static_cast<int>(env_int("THALWEG_VERBOSE", 0, 2).value_or(0)));
  return level;
}

// One write per line, so that lines of several processes on one terminal do not mix either.
void write_to_stderr(LogLevel level, std::string_view text) {
  std::string line = level == LogLevel::warn ? "thalweg: warning: " : "thalweg: ";
  line.append(text).push_back('\n');
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (n < 0 && errno != EINTR) return;  // nowhere left to complain
    if (n > 0) done += static_cast<size_t>(n);
  }
}

}  // namespace

int verbosity() { return level_setting().load(std::memory_order_relaxed); }

void set_verbosity(int level) { level_setting().store(level, std::memory_order_relaxed); }

void log(LogLevel level, std::string_view text) {
  if (!log_enabled(level)) return;
  std::lock_guard lock(the_log().mutex);
  if (LogSink* sink = the_log().sink) {
    sink->write(level, text);
  } else {
    write_to_stderr(level, text);
  }
}

void warn_once(std::string_view key, std::string_view text) {
  {
    std::lock_guard lock(the_log().mutex);
    if (!the_log().warned.emplace(key).second) return;
  }
  log(LogLevel::warn, text);
}

LogSink* set_log_sink(LogSink* sink) {
  std::lock_guard lock(the_log().mutex);
  return std::exchange(the_log().sink, sink);
}

}  // namespace thalweg
