#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/trained_net.h"

namespace thalweg::cli {

int run_eval(const EvalOptions& options) {
  const Device device = apply(options.common);
  Recipe recipe;
  load_recipe_of_run(recipe, options.run, options.overrides);
  const RecipeData data = load_data(recipe, OtherSet::refused);
  nn::Sequential net = load_trained_net(recipe, options.run, options.weights, data.test, device);

  std::vector<metric::MetricPtr> metrics = make_metrics(recipe);
  metrics.insert(metrics.begin(), metric::loss());
  data::DataLoader loader = make_test_loader(data.test);
  train::evaluate(net, loader, recipe.train.loss.as<LossPart>().make(), metrics);
  const train::Figures figures = train::figures_of(metrics);

  if (options.json) {
    nlohmann::ordered_json object = {{"data", data.test.name()}, {"samples", data.test.samples()}};
    for (const train::Figure& figure : figures) object[figure.name] = figure.value;
    fmt::print("{}\n", object.dump());
    return kExitOk;
  }
  fmt::print("{}, {} samples\n", data.test.name(), data.test.samples());
  for (const train::Figure& figure : figures)
    fmt::print("{:<20} {:.4f}\n", figure.name, figure.value);
  return kExitOk;
}

}  // namespace thalweg::cli
