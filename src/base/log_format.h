#pragma once

// Logging with a formatted text, for sources. Nothing is formatted unless the level is enabled.

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thalweg/base/log.h>

namespace thalweg {

template <typename... Args>
void logf(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log(level, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  logf(LogLevel::warn, format, std::forward<Args>(args)...);
}

template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  logf(LogLevel::info, format, std::forward<Args>(args)...);
}

template <typename... Args>
void log_verbose(fmt::format_string<Args...> format, Args&&... args) {
  logf(LogLevel::verbose, format, std::forward<Args>(args)...);
}

}  // namespace thalweg
