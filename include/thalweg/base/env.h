#pragma once

// Environment variables, read with their type. An empty value counts as not set.

#include <cstdint>
#include <optional>
#include <string>

#include <thalweg/base/export.h>

namespace thalweg {

THALWEG_API std::optional<std::string> env_string(const char* name);

/// A decimal integer in [min, max]; anything else is an error that names the variable and its
/// value.
THALWEG_API std::optional<int64_t> env_int(const char* name, int64_t min, int64_t max);

}  // namespace thalweg
