#pragma once

// The lines of metrics.jsonl as text and back.

#include <cstdint>
#include <string>
#include <string_view>

#include <thalweg/train/run_folder.h>

namespace thalweg::train {

/// The line with its end. Throws Error invalid if a figure is named like one of the line's own
/// keys.
std::string format_metrics_line(const MetricsLine& line);

/// Back from text without the end; `place` is for the error.
MetricsLine parse_metrics_line(std::string_view text, const std::string& place);

/// The length in bytes of the lines up to `step`. A last line without its end does not count.
/// Throws Error io if another line cannot be read; `path` is for its text.
int64_t metrics_size_until(std::string_view text, int64_t step, const std::string& path);

}  // namespace thalweg::train
