#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/text.h>

#include "base/utf8.h"

namespace thalweg {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A wrong letter case is a quarter of an edit, so that all capitals are still near.
constexpr int kEdit = 4;

int replace_cost(char a, char b) {
  if (a == b) return 0;
  return lower(a) == lower(b) ? 1 : kEdit;
}

// kEdit times the number of edits (optimal string alignment distance).
int edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> before_last(width);
  std::vector<int> last(width);
  std::vector<int> row(width);
  for (size_t j = 0; j < width; ++j) row[j] = kEdit * static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = kEdit * static_cast<int>(i);
    for (size_t j = 1; j < width; ++j) {
      row[j] = std::min(
          {last[j] + kEdit, row[j - 1] + kEdit, last[j - 1] + replace_cost(a[i - 1], b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + kEdit);
    }
  }
  return row.back();
}

struct Unit {
  std::string_view name;
  double size;
};

// Three digits of `value` in the largest unit that leaves at least 1.
std::string in_units(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    const double scaled = value / unit.size;
    // What three digits would round up to the next unit's 1000 goes there.
    if (scaled < 0.9995 && &unit != &units.back()) continue;
    const int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", scaled, decimals, unit.name);
  }
  return {};
}

// What a unit after a number, with or without a blank between, multiplies it by.
std::optional<double> unit_size(std::string_view text) {
  if (text.empty()) return 1;
  std::string unit(text.substr(text[0] == ' ' ? 1 : 0));
  std::transform(unit.begin(), unit.end(), unit.begin(), lower);
  if (unit == "b") return 1;
  const size_t power = unit.empty() ? std::string::npos : std::string_view("kmgt").find(unit[0]);
  if (power == std::string::npos) return std::nullopt;
  const std::string_view suffix = std::string_view(unit).substr(1);
  if (!suffix.empty() && suffix != "b" && suffix != "ib") return std::nullopt;
  return std::pow(suffix == "b" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view word,
                                             std::span<const std::string_view> candidates) {
  std::optional<std::string_view> nearest;
  // A third of the letters may be wrong; of one to three letters, one.
  int limit = kEdit * std::max(1, static_cast<int>(word.size()) / 3) + 1;
  for (std::string_view candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    if (distance >= limit) continue;
    limit = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto nearest = nearest_name(word, candidates);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kSafe) == text.npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    if (!point.is_valid) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

std::string format_bytes(uint64_t bytes) {
  constexpr Unit kUnits[] = {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  return in_units(static_cast<double>(bytes), kUnits);
}

std::string format_count(uint64_t count) {
  constexpr Unit kUnits[] = {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}};
  if (count < 1000) return fmt::format("{}", count);
  return in_units(static_cast<double>(count), kUnits);
}

std::string format_duration(double seconds) {
  constexpr Unit kUnits[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  if (seconds < 59.95) return in_units(seconds, kUnits);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;

  const std::optional<double> unit = unit_size({rest, end});
  if (!unit) return std::nullopt;
  const double bytes = std::round(number * *unit);
  if (!(bytes < 0x1p63)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

}  // namespace thalweg
