#pragma once

#include <string>

#include "cli/recipe/toml.h"

namespace thalweg::cli {

/// What the sources of an override's nodes are named with, before the assignment itself.
inline constexpr const char* kOverridePrefix = "--set ";

/// Puts `key=value` into the table. Throws Error{invalid} for text of another form, or a key that
/// leads through something else than tables and the entries of lists.
void apply_override(toml::table& root, const std::string& assignment);

}  // namespace thalweg::cli
