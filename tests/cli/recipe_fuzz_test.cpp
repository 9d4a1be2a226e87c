// Damaged recipes: whatever the bytes are, there is a recipe or an Error, and nothing else.

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/philox.h>

#include "cli/recipe/recipe.h"
#include "cli/recipe/write.h"
#include "cli/recipes.h"

namespace thalweg::cli {
namespace {

constexpr int kMutations = 4000;

// Cuts, repeats, swaps or overwrites a few pieces of the text.
std::string mutated(std::string text, Philox& random) {
  static const std::string_view kPieces[] = {"[",
                                             "]",
                                             "[[",
                                             "=",
                                             "\"",
                                             "\n",
                                             "0",
                                             "-1",
                                             "1e999",
                                             "nan",
                                             "{",
                                             "}",
                                             ".",
                                             "'''",
                                             "#",
                                             "\\u0000",
                                             "true",
                                             "kind",
                                             "99999999999999999999",
                                             "\xff",
                                             "1979-05-27"};
  for (uint32_t n = 1 + random.bounded(4); n > 0 && !text.empty(); --n) {
    const size_t at = random.bounded(static_cast<uint32_t>(text.size()));
    const size_t size = std::min<size_t>(random.bounded(24), text.size() - at);
    switch (random.bounded(4)) {
      case 0:
        text.erase(at, size);
        break;
      case 1:
        text.insert(at, text.substr(at, size));
        break;
      case 2:
        text.insert(at, kPieces[random.bounded(std::size(kPieces))]);
        break;
      case 3:
        text[at] = static_cast<char>(random.bounded(256));
        break;
    }
  }
  return text;
}

bool is_one_line(std::string_view text) { return text.find('\n') == std::string_view::npos; }

TEST(RecipeFuzz, DamagedRecipesGiveARecipeOrAnError) {
  Philox random(20261130);
  const std::vector<BuiltInRecipe> recipes = built_in_recipes();
  int errors = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text =
        mutated(std::string(recipes[static_cast<size_t>(i) % recipes.size()].text), random);
    Recipe recipe;
    try {
      load_recipe(recipe, text, "r.toml", "r", {});
      Recipe again;
      load_recipe(again, write_recipe(recipe.sections()), "again.toml", "again", {});
      EXPECT_EQ(write_recipe(again.sections()), write_recipe(recipe.sections())) << text;
    } catch (const Error& error) {
      ++errors;
      EXPECT_EQ(error.kind(), ErrorKind::invalid) << text;
      EXPECT_TRUE(is_one_line(error.what())) << error.what();
    }
  }
  EXPECT_GT(errors, kMutations / 4);
  EXPECT_LT(errors, kMutations);
}

TEST(RecipeFuzz, DamagedOverridesGiveARecipeOrAnError) {
  Philox random(7);
  const std::string text(built_in_recipes().front().text);
  for (int i = 0; i < kMutations; ++i) {
    const std::string override = mutated("net.layer.0.units=[1, \"two\", 3.0]", random);
    Recipe recipe;
    try {
      load_recipe(recipe, text, "r.toml", "r", std::vector{override});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid) << override;
    }
  }
}

}  // namespace
}  // namespace thalweg::cli
