#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <limits>

#include <thalweg/base/clock.h>
#include <thalweg/base/file.h>
#include <thalweg/train/events.h>
#include <thalweg/train/run_folder.h>

#include "base/fail.h"
#include "train/append_file.h"
#include "train/metrics_file.h"

namespace thalweg::train {
namespace {

namespace fs = std::filesystem;

std::string folder_name(std::string_view name) {
  std::string clean(name.empty() ? "run" : name);
  for (char& c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (!std::isalnum(byte) && c != '.' && c != '_' && c != '-')) c = '-';
  }
  if (clean[0] == '.' || clean[0] == '-') clean[0] = '_';  // neither hidden nor like an option
  return clean;
}

// create_directory() says whether the folder is new, so two runs that start at once get one each.
std::string make_unique_folder(const std::string& runs, std::string_view name) {
  const std::string base =
      folder_name(name) + '-' + format_utc_compact(std::chrono::system_clock::now());
  std::error_code error;
  fs::create_directories(runs, error);
  for (int count = 1; !error; ++count) {
    const fs::path path = fs::path(runs) / (count == 1 ? base : fmt::format("{}-{}", base, count));
    if (fs::create_directory(path, error)) return path.string();
  }
  fail_io("run folder: cannot create {}/{}; {}; name a folder that can be written", runs, base,
          error.message());
}

// Markdown shows what is indented as it is.
std::string as_markdown_code(std::string_view text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out.append(4, ' ');
  }
  return out;
}

}  // namespace

RunPaths::RunPaths(const std::string& path)
    : folder(path),
      config(path + "/config.toml"),
      metrics(path + "/metrics.jsonl"),
      checkpoints(path + "/checkpoints"),
      model(path + "/model.safetensors"),
      report(path + "/report.html"),
      times(path + "/times.json"),
      profile(path + "/profile.json") {}

class RunFolder::State {
 public:
  State(const RunPaths& paths, AppendFile::Mode mode) : paths(paths), metrics(paths.metrics, mode) {
    metrics.lock();
  }

  void open_events(int64_t resumed_at) {
    events = std::make_unique<EventWriter>(paths.folder, resumed_at);
  }

  RunPaths paths;
  AppendFile metrics;
  std::unique_ptr<EventWriter> events;
  int64_t last_step = std::numeric_limits<int64_t>::min();
};

RunFolder::RunFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFolder::~RunFolder() = default;
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;

RunFolder RunFolder::create(const std::string& runs, std::string_view name,
                            std::string_view config) {
  const RunPaths paths(make_unique_folder(runs, name));
  std::error_code error;
  fs::create_directory(paths.checkpoints, error);
  if (error) fail_io("run folder: cannot create {}; {}", paths.checkpoints, error.message());
  write_file(paths.config, config);
  auto state = std::make_unique<State>(paths, AppendFile::Mode::create);
  state->open_events(-1);
  state->events->text("config", 0, as_markdown_code(config));
  state->events->flush();
  return RunFolder(std::move(state));
}

RunFolder RunFolder::resume(const std::string& folder, int64_t step) {
  const RunPaths paths(folder);
  if (!fs::exists(paths.config))
    fail_io("run folder: {} is no run's folder; it has no config.toml", folder);
  std::error_code error;
  fs::create_directory(paths.checkpoints, error);
  if (error) fail_io("run folder: cannot create {}; {}", paths.checkpoints, error.message());
  auto state = std::make_unique<State>(paths, AppendFile::Mode::existing);
  const int64_t size = metrics_size_until(read_file(paths.metrics), step, paths.metrics);
  truncate_events(folder, step);
  state->metrics.truncate(size);
  state->open_events(step);
  state->last_step = step;
  return RunFolder(std::move(state));
}

const RunPaths& RunFolder::paths() const { return state_->paths; }

void RunFolder::log(const MetricsLine& line) {
  if (line.step < state_->last_step)
    fail_invalid("run folder: metrics of step {} after those of step {}; steps must not decrease",
                 line.step, state_->last_step);
  state_->metrics.append(format_metrics_line(line));
  state_->last_step = line.step;
  state_->events->scalars(line.part, line.step, line.figures);
}

void RunFolder::sync() {
  state_->metrics.sync();
  state_->events->sync();
}

}  // namespace thalweg::train
