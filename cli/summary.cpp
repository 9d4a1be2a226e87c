#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace thalweg::cli {

int run_summary(const SummaryOptions& options) {
  Recipe recipe;
  if (std::filesystem::is_directory(options.recipe)) {
    load_recipe_of_run(recipe, options.recipe, options.overrides);
  } else {
    load_recipe_by_name(recipe, options.recipe, options.overrides);
  }
  const RecipeData data = load_data(recipe);
  nn::Sequential net = make_net(recipe, data.train, Device::cpu());
  fmt::print("{}\n", nn::to_string(nn::summarize(net, data.train.example())));
  return kExitOk;
}

}  // namespace thalweg::cli
