#include "train/metrics_file.h"

#include <cmath>
#include <functional>
#include <limits>

#include <nlohmann/json.hpp>

#include <thalweg/base/file.h>

#include "base/fail.h"

namespace thalweg::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// JSON has no numbers for these.
Json to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double to_double(const Json& json) {
  if (json == "nan") return std::nan("");
  if (json == "inf") return kInfinity;
  if (json == "-inf") return -kInfinity;
  return json.get<double>();
}

bool is_own_key(const std::string& name) {
  return name == "step" || name == "epoch" || name == "part";
}

// Calls visit(line, number, offset of its end) for each whole line until it returns false.
void for_each_line(std::string_view text,
                   const std::function<bool(std::string_view, int64_t, size_t)>& visit) {
  int64_t number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    if (end == text.npos || !visit(text.substr(begin, end - begin), number, end + 1)) return;
    begin = end + 1;
  }
}

std::string place(const std::string& path, int64_t number) {
  return fmt::format("{}:{}", path, number);
}

}  // namespace

std::string format_metrics_line(const MetricsLine& line) {
  Json json{{"step", line.step}, {"epoch", line.epoch}, {"part", line.part}};
  for (const Figure& figure : line.figures) {
    if (is_own_key(figure.name))
      fail_invalid("run folder: a figure must not be named '{}'; that is a key of every line",
                   figure.name);
    json[figure.name] = to_json(figure.value);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

MetricsLine parse_metrics_line(std::string_view text, const std::string& place) {
  try {
    const Json json = Json::parse(text);
    MetricsLine line{json.at("step"), json.at("epoch"), json.at("part"), {}};
    for (const auto& [key, value] : json.items())
      if (!is_own_key(key)) line.figures.push_back({key, to_double(value)});
    return line;
  } catch (const nlohmann::json::exception& error) {
    fail_io("read_metrics: {}: not a line of metrics; {}", place, error.what());
  }
}

int64_t metrics_size_until(std::string_view text, int64_t step, const std::string& path) {
  size_t size = 0;
  for_each_line(text, [&](std::string_view line, int64_t number, size_t end) {
    if (parse_metrics_line(line, place(path, number)).step > step) return false;
    size = end;
    return true;
  });
  return static_cast<int64_t>(size);
}

std::vector<MetricsLine> read_metrics(const std::string& path) {
  std::vector<MetricsLine> lines;
  for_each_line(read_file(path), [&](std::string_view line, int64_t number, size_t) {
    lines.push_back(parse_metrics_line(line, place(path, number)));
    return true;
  });
  return lines;
}

}  // namespace thalweg::train
