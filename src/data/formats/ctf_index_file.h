#pragma once

#include <optional>
#include <string>

#include "data/formats/ctf_index.h"

namespace thalweg::data {

/// The index of a file as it is kept on disk or as CNTK left it; none if there is none, or it is of
/// another file, of other options, or damaged, which is logged.
std::optional<CtfIndexData> read_ctf_index(const std::string& path, const CtfRules& rules,
                                           const FileStamp& stamp, const CtfIndexOptions& options);

/// Keeps it. That it cannot is logged, and no error.
void write_ctf_index(const std::string& path, const CtfRules& rules, const FileStamp& stamp,
                     const CtfIndexOptions& options, const CtfIndexData& data);

/// Where it is kept.
std::string ctf_index_path(const std::string& path, const CtfRules& rules,
                           const CtfIndexOptions& options);

}  // namespace thalweg::data
