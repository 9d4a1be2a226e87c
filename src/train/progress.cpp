#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

#include <thalweg/base/log.h>
#include <thalweg/train/progress.h>

namespace thalweg::train {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[2K";

double seconds_now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// The first of the three that is set decides, as in setlocale(3).
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

int terminal_width(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Of a terminal without a name nothing is known.
bool moves_cursor() {
  const std::string_view term = environment("TERM");
  return !term.empty() && term != "dumb";
}

// A signal (a resized window raises one) may interrupt the call; any other failure drops the text.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

// The log calls write() with its own lock held, from any thread; nothing here may log.
class Progress::State final : public LogSink {
 public:
  explicit State(const ProgressOptions& options)
      : options_(options), terminal_(isatty(options.fd) == 1 && moves_cursor()) {
    style_.colour = terminal_ && environment("NO_COLOR").empty();
    style_.unicode = terminal_ && speaks_utf8();
    wait_for_next();
    if (terminal_) former_sink_ = set_log_sink(this);
  }

  ~State() override {
    if (terminal_) set_log_sink(former_sink_);
    finish();
  }

  void update(const ProgressState& state) {
    std::lock_guard lock(mutex_);
    const double now = seconds_now();
    const bool due = now >= next_time_;
    if (!due && meter_.started()) return;
    meter_.update(now, state);
    if (!due) return;
    next_time_ = now + (terminal_ ? options_.terminal_interval : options_.plain_interval);
    draw(state);
  }

  void print(std::string_view line) {
    std::lock_guard lock(mutex_);
    erase();
    const std::string text = std::string(line) + "\n";
    const int result_fd = options_.result_fd < 0 ? options_.fd : options_.result_fd;
    if (terminal_) write_all(options_.fd, text);
    if (!terminal_ || (result_fd != options_.fd && isatty(result_fd) != 1))
      write_all(result_fd, text);
    wait_for_next();
  }

  void finish() {
    std::lock_guard lock(mutex_);
    erase();
    wait_for_next();
  }

  ProgressRates rates() const {
    std::lock_guard lock(mutex_);
    return meter_.rates();
  }

  void write(LogLevel level, std::string_view text) noexcept override {
    std::lock_guard lock(mutex_);
    erase();
    const std::string_view prefix = level == LogLevel::warn ? "thalweg: warning: " : "thalweg: ";
    write_all(STDERR_FILENO, std::string(prefix).append(text) + "\n");
    wait_for_next();
  }

 private:
  // A terminal's line comes back at once; elsewhere what was just written is news enough.
  void wait_for_next() { next_time_ = terminal_ ? 0 : seconds_now() + options_.plain_interval; }

  void draw(const ProgressState& state) {
    if (!terminal_) {
      write_all(options_.fd, format_progress_plain(state, meter_.rates()) + "\n");
      return;
    }
    style_.width = terminal_width(options_.fd);
    const std::string line = format_progress(state, meter_.rates(), style_);
    write_all(options_.fd, std::string(kEraseLine) + line);
    drawn_ = true;
  }

  void erase() {
    if (!drawn_) return;
    write_all(options_.fd, kEraseLine);
    drawn_ = false;
  }

  mutable std::mutex mutex_;
  ProgressOptions options_;
  ProgressMeter meter_;
  ProgressStyle style_;
  bool terminal_;
  bool drawn_ = false;
  double next_time_ = 0;
  LogSink* former_sink_ = nullptr;
};

Progress::Progress(const ProgressOptions& options) : state_(std::make_unique<State>(options)) {}
Progress::~Progress() = default;
void Progress::update(const ProgressState& state) { state_->update(state); }
void Progress::print(std::string_view line) { state_->print(line); }
void Progress::finish() { state_->finish(); }
ProgressRates Progress::rates() const { return state_->rates(); }

}  // namespace thalweg::train
