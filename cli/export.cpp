#include <filesystem>

#include <fmt/format.h>

#include <thalweg/base/file.h>
#include <thalweg/model/exported.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/recipe/write.h"
#include "cli/trained_net.h"

namespace thalweg::cli {

int run_export(const ExportOptions& options) {
  Recipe recipe;
  load_recipe_or_run(recipe, options.recipe, options.overrides);
  const RecipeData data = load_data(recipe);
  const bool is_trained = std::filesystem::is_directory(options.recipe) || !options.weights.empty();
  nn::Sequential net =
      is_trained ? load_trained_net(recipe, options.recipe, options.weights, data.test, {})
                 : make_net(recipe, data.train, {});
  export_model(options.output, net, data.test.example());
  // What data the net takes, for eval and predict.
  write_file(train::RunPaths(options.output).config, write_recipe(recipe.sections()));
  fmt::print("model   {}\n", options.output);
  return kExitOk;
}

}  // namespace thalweg::cli
