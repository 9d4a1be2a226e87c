#include "cli/recipes.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thalweg/base/file.h>
#include <thalweg/base/text.h>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

// The comment in a recipe's first line says what it trains.
std::string_view first_comment(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with("# ") ? line.substr(2) : std::string_view();
}

bool needs_files(std::string_view text) { return text.find("\nset = \"files\"") != text.npos; }

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const BuiltInRecipe& recipe : built_in_recipes()) names.emplace_back(recipe.name);
  return names;
}

RecipeText find_recipe(const std::string& name_or_path) {
  std::vector<std::string_view> names;
  const std::vector<BuiltInRecipe> recipes = built_in_recipes();
  for (const BuiltInRecipe& recipe : recipes) {
    names.push_back(recipe.name);
    if (recipe.name != name_or_path) continue;
    return {std::string(recipe.text), name_or_path, name_or_path};
  }
  const std::filesystem::path path(name_or_path);
  const bool is_path = path.has_parent_path() || path.extension() == ".toml";
  if (!is_path && !std::filesystem::exists(path)) {
    fail_invalid("recipe: there is no recipe and no file '{}'; known are {}{}", name_or_path,
                 fmt::join(names, ", "), did_you_mean(name_or_path, names));
  }
  return {read_file(name_or_path, kMaxRecipeBytes), name_or_path, path.stem().string()};
}

std::string recipe_list() {
  std::string text;
  for (const BuiltInRecipe& recipe : built_in_recipes()) {
    text += fmt::format("{:<24} {}{}\n", recipe.name, first_comment(recipe.text),
                        needs_files(recipe.text) ? "; needs files of yours (data.train)" : "");
  }
  return text;
}

}  // namespace thalweg::cli
