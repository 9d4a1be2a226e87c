#include <fmt/format.h>

#include <thalweg/model/exported.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace thalweg::cli {
int run_summary(const SummaryOptions& options) {
  if (model::is_exported_model(options.recipe)) {
    if (options.plan) fail_invalid("summary: --plan is of training steps; name a recipe or a run");
    model::ImportedModel net = import_model(options.recipe);
    fmt::print("{}\n", nn::summary(net, net.input_shape(), net.input_dtype()));
    return kExitOk;
  }
  Recipe recipe;
  load_recipe_or_run(recipe, options.recipe, options.overrides);
  const RecipeData data = load_data(recipe);
  nn::Sequential net = make_net(recipe, data.train, Device::cpu());
  fmt::print("{}\n", nn::to_string(nn::summarize(net, data.train.example())));
  if (options.plan) fmt::print("\n{}", planned_step(recipe, data, net).step.explain());
  return kExitOk;
}

}  // namespace thalweg::cli
