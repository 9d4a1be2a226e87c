#pragma once

// Throwing with a formatted message, for sources. The formatting is out of the caller's hot path.

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thalweg/base/error.h>

namespace thalweg {

namespace detail {
[[noreturn, gnu::cold]] inline void vfail(ErrorKind kind, fmt::string_view format,
                                          fmt::format_args args) {
  throw Error(kind, fmt::vformat(format, args));
}
}  // namespace detail

/// Throws an Error of `kind` whose text is the formatted message.
template <typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(ErrorKind kind, fmt::format_string<Args...> format,
                                                 Args&&... args) {
  detail::vfail(kind, format, fmt::make_format_args(args...));
}

/// The user's mistake.
template <typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_invalid(fmt::format_string<Args...> format,
                                                         Args&&... args) {
  detail::vfail(ErrorKind::invalid, format, fmt::make_format_args(args...));
}

/// A file, disk or network that did not do what was asked.
template <typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_io(fmt::format_string<Args...> format,
                                                    Args&&... args) {
  detail::vfail(ErrorKind::io, format, fmt::make_format_args(args...));
}

}  // namespace thalweg

/// States what must hold if Thalweg itself is right; otherwise throws an internal error.
#define THALWEG_ASSERT(condition)                                                               \
  (static_cast<bool>(condition)                                                                 \
       ? void(0)                                                                                \
       : ::thalweg::fail(::thalweg::ErrorKind::internal,                                        \
                         "internal: {} does not hold at {}:{}; please report this", #condition, \
                         __FILE__, __LINE__))
