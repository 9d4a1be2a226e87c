#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/text.h>
#include <thalweg/train/progress.h>

namespace thalweg::train {
namespace {

constexpr double kRateWindow = 3;  // seconds after which old speed counts for 1/e
constexpr int kBarMin = 8;
constexpr int kBarMax = 40;

// A part of the line with the rank of its use: the highest rank is dropped first.
struct Part {
  std::string text;
  int rank;
};

int columns(const std::vector<Part>& parts) {
  int sum = 0;
  for (const Part& part : parts) sum += static_cast<int>(part.text.size()) + 2;
  return parts.empty() ? 0 : sum - 2;
}

// Seconds as 0:07, 12:03 or 2:05:09: a count-down has no fractions.
std::string clock_text(double seconds) {
  const auto total = static_cast<int64_t>(std::llround(std::min(seconds, 1e12)));
  const int64_t hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, rest);
  return fmt::format("{}:{:02}", minutes, rest);
}

int64_t global_step(const ProgressState& state) {
  return (state.epoch - 1) * state.steps + state.step;
}

std::string epoch_text(const ProgressState& state) {
  std::string text = fmt::format("epoch {}/{}", state.epoch, state.epochs);
  if (!state.phase.empty()) text.append(" ").append(state.phase);
  return text;
}

std::string step_text(const ProgressState& state) {
  if (state.steps <= 0) return fmt::format("{}", state.step);
  return fmt::format("{:>{}}/{}", state.step, fmt::formatted_size("{}", state.steps), state.steps);
}

std::vector<Part> figures(const ProgressState& state, const ProgressRates& rates,
                          std::string_view accuracy_name) {
  std::vector<Part> parts;
  if (!std::isnan(state.loss) || state.phase.empty())
    parts.push_back({fmt::format("loss {:.4f}", state.loss), 1});
  if (!std::isnan(state.accuracy))
    parts.push_back({fmt::format("{} {:.4f}", accuracy_name, state.accuracy), 3});
  if (std::isfinite(rates.samples_per_s))
    parts.push_back(
        {format_count(static_cast<uint64_t>(std::llround(rates.samples_per_s))) + " samples/s", 4});
  if (std::isfinite(rates.seconds_left))
    parts.push_back({clock_text(rates.seconds_left) + " left", 2});
  return parts;
}

std::string draw_bar(double fraction, int width, const ProgressStyle& style) {
  const int halves = static_cast<int>(std::floor(std::clamp(fraction, 0.0, 1.0) * width * 2));
  const int full = halves / 2;
  std::string bar, rest;
  for (int i = 0; i < full; ++i) bar += style.unicode ? "━" : "#";
  int used = full;
  if (style.unicode && halves % 2 == 1) {
    bar += "╸";
    ++used;
  }
  for (int i = used; i < width; ++i) rest += style.unicode ? "─" : "-";
  if (!style.colour) return bar + rest;
  return fmt::format("\x1b[36m{}\x1b[0;2m{}\x1b[0m", bar, rest);
}

// Leaves out parts, the highest rank first, until the line has at most `room` columns.
void drop_to_fit(std::vector<Part>& parts, int room) {
  while (columns(parts) > room) {
    auto worst = std::max_element(parts.begin(), parts.end(),
                                  [](const Part& a, const Part& b) { return a.rank < b.rank; });
    if (worst == parts.end() || worst->rank == 0) return;
    parts.erase(worst);
  }
}

std::string join(const std::vector<Part>& parts) {
  std::string line;
  for (const Part& part : parts) line.append(line.empty() ? "" : "  ").append(part.text);
  return line;
}

}  // namespace

void ProgressMeter::update(double now, const ProgressState& state) {
  if (!started_) {
    started_ = true;
    first_time_ = last_time_ = now;
    first_step_ = global_step(state);
    last_samples_ = state.samples;
    return;
  }
  const double passed = now - last_time_;
  const int64_t samples = state.samples - last_samples_;
  if (passed > 0 && samples > 0) {
    const double speed = static_cast<double>(samples) / passed;
    const double weight = 1 - std::exp(-passed / kRateWindow);
    double& rate = rates_.samples_per_s;
    rate = std::isnan(rate) ? speed : rate + weight * (speed - rate);
    last_time_ = now;
    last_samples_ = state.samples;
  }
  const int64_t done = global_step(state) - first_step_;
  const int64_t left = state.epochs * state.steps - global_step(state);
  if (state.steps > 0 && done > 0 && state.phase.empty())
    rates_.seconds_left =
        (now - first_time_) / static_cast<double>(done) * static_cast<double>(left);
}

std::string format_progress(const ProgressState& state, const ProgressRates& rates,
                            const ProgressStyle& style) {
  const int room = std::max(style.width - 1, 1);
  std::vector<Part> parts{{epoch_text(state), 0}, {step_text(state), 0}};
  for (Part& part : figures(state, rates, "acc")) parts.push_back(std::move(part));
  drop_to_fit(parts, room);
  const int bar = std::min(room - columns(parts) - 2, kBarMax);
  if (state.steps > 0 && bar >= kBarMin) {
    const double fraction = static_cast<double>(state.step) / static_cast<double>(state.steps);
    parts.insert(parts.begin() + 1, {draw_bar(fraction, bar, style), 0});
    return join(parts);
  }
  return join(parts).substr(0, static_cast<size_t>(room));
}

std::string format_progress_plain(const ProgressState& state, const ProgressRates& rates) {
  std::vector<Part> parts{{epoch_text(state), 0}};
  parts.push_back({state.steps > 0 ? fmt::format("step {}/{}", state.step, state.steps)
                                   : fmt::format("step {}", state.step),
                   0});
  for (Part& part : figures(state, rates, "accuracy")) parts.push_back(std::move(part));
  return join(parts);
}

}  // namespace thalweg::train
