#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <thalweg/data/format.h>

#include "cli/options.h"

namespace thalweg::cli {

/// "KEY=VALUE" texts as a map. Throws Error{invalid}, naming `option`, for others.
std::map<std::string, std::string> parse_pairs(const char* option,
                                               const std::vector<std::string>& pairs);

data::FormatOptions to_format_options(const DataFileOptions& options);

/// The help of --format: the formats that there are.
std::string format_help();

/// The table of formats with their options, for --help and docs/data-files.md.
std::string format_table();

/// A sequence's values in all streams, of the chunk that holds it. False if it was dropped.
bool read_sequence(const data::Deserializer& corpus, const data::Chunk& chunk, int64_t number,
                   int64_t sequence, std::vector<data::StreamValues>& values);

/// Throws Error{io} for more errors than `max_errors`, all having been read over.
void check_problems(const data::ReadProblems& problems, int64_t max_errors);

}  // namespace thalweg::cli
