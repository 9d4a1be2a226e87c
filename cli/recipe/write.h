#pragma once

#include <span>
#include <string>

#include "cli/recipe/part.h"

namespace thalweg::cli {

/// The sections as TOML, every key with its value. Reading it gives the same recipe again.
std::string write_recipe(std::span<const Section> sections);

/// Every table and key of a recipe in Markdown: docs/recipe.md.
std::string recipe_reference(std::span<const Section> sections);

/// Key and value of every field, e.g. {"optimizer.learning_rate", "0.1"}.
std::vector<std::pair<std::string, std::string>> recipe_settings(std::span<const Section> sections);

}  // namespace thalweg::cli
