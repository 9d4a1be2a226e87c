#pragma once

// The recipes that come along, as part of the program.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::cli {

/// A recipe's file is no larger.
inline constexpr uint64_t kMaxRecipeBytes = 1 << 20;

struct BuiltInRecipe {
  std::string_view name;  ///< "fashion-mnist-mlp"
  std::string_view text;
};

/// Made by embed.cmake of the files in recipes/.
std::vector<BuiltInRecipe> built_in_recipes();

std::vector<std::string> recipe_names();

/// A recipe's text and what errors call it.
struct RecipeText {
  std::string text;
  std::string name;       ///< "recipes/spirals-mlp.toml", "spirals-mlp"
  std::string base_name;  ///< "spirals-mlp"
};

/// By the name of one that comes along, or by the path of a file. Throws Error{invalid} if it is
/// neither, with the nearest name, and Error{io} for a file that cannot be read.
RecipeText find_recipe(const std::string& name_or_path);

/// Names and first comment lines, one recipe a line.
std::string recipe_list();

}  // namespace thalweg::cli
