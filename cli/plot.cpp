#include <filesystem>

#include <fmt/format.h>

#include <thalweg/base/file.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace thalweg::cli {
namespace {

bool wants_svg(const PlotOptions& options) {
  if (!options.format.empty()) return options.format == "svg";
  return std::filesystem::path(options.output).extension() == ".svg";
}

}  // namespace

int run_plot(const PlotOptions& options) {
  Recipe recipe;
  load_recipe_or_run(recipe, options.recipe, options.overrides);
  const RecipeData data = load_data(recipe);
  nn::Sequential net = make_net(recipe, data.train, Device::cpu());
  const Diagram diagram = options.plan ? planned_step(recipe, data, net).step.diagram()
                                       : nn::diagram(net, data.train.example());
  const std::string text = wants_svg(options) ? to_svg(diagram) : to_dot(diagram);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file(options.output, text);
  }
  return kExitOk;
}

}  // namespace thalweg::cli
