#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace thalweg::cli {
namespace {

// As many steps as it takes to plan one.
std::string plan_of_step(const Recipe& recipe, const RecipeData& data, nn::Sequential& net) {
  data::DataLoader loader = make_train_loader(recipe, data.train);
  train::Trainer trainer = make_trainer(recipe, net, loader.size());
  const train::PlannedStep step(net, recipe.train.loss.as<LossPart>().make(), trainer);
  const data::Batch batch = *loader.begin();
  constexpr int kSteps = 8;
  for (int i = 0; i < kSteps; ++i) step(batch);
  return step.explain();
}

}  // namespace

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
  if (options.plan) fmt::print("\n{}", plan_of_step(recipe, data, net));
  return kExitOk;
}

}  // namespace thalweg::cli
