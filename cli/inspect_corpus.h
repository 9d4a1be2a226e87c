#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/options.h"

namespace thalweg::cli {

/// Whether `path` is to be read as data by the table of formats.
bool is_corpus(const std::string& path, const DataFileOptions& options);

/// Reads all of a data file and says what is in it. `failure`: why it cannot be read under these
/// rules, "" if it can; the object then tells how far it could.
nlohmann::ordered_json describe_corpus(const std::string& path, const DataFileOptions& options,
                                       std::string& failure);

}  // namespace thalweg::cli
