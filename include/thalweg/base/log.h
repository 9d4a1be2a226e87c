#pragma once

// What Thalweg has to say besides its results and errors; to stderr unless a sink is set.

#include <string_view>

#include <thalweg/base/export.h>

namespace thalweg {

/// Shown at THALWEG_VERBOSE of at least 0, 1 and 2.
enum class LogLevel { warn = 0, info = 1, verbose = 2 };

/// THALWEG_VERBOSE (0 by default), read once, unless set_verbosity was called.
THALWEG_API int verbosity();
THALWEG_API void set_verbosity(int level);

inline bool log_enabled(LogLevel level) { return static_cast<int>(level) <= verbosity(); }

/// Writes one line if the level is enabled. Any thread; lines do not mix.
THALWEG_API void log(LogLevel level, std::string_view text);

/// A warning, the first time for this key in the process.
THALWEG_API void warn_once(std::string_view key, std::string_view text);

/// Takes the lines in place of stderr. write() must not throw or log; calls come one at a time.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view text) noexcept = 0;
};

/// The caller keeps the sink alive until it is replaced; null is stderr. Returns the one before.
THALWEG_API LogSink* set_log_sink(LogSink* sink);

}  // namespace thalweg
