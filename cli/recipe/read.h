#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/recipe/part.h"

namespace thalweg::cli {

/// Sets what `sections` are bound to from the TOML `text`, then from the overrides, each
/// `key=value` with a dotted key, e.g. `net.layer.0.units=128`. A value that is not TOML is taken
/// as a text. `name` is what errors blame. Throws Error{invalid}, with file and line, for what is
/// not TOML, an unknown key (and the nearest known one), a wrong type, a value out of its range.
void read_recipe(std::string_view text, const std::string& name,
                 std::span<const std::string> overrides, std::vector<Section> sections);

}  // namespace thalweg::cli
