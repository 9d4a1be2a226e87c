#include <filesystem>

#include <fmt/format.h>

#include <thalweg/base/file.h>
#include <thalweg/model/exported.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace thalweg::cli {
namespace {

bool wants_svg(const PlotOptions& options) {
  if (!options.format.empty()) return options.format == "svg";
  return std::filesystem::path(options.output).extension() == ".svg";
}

Diagram drawn(const PlotOptions& options) {
  if (model::is_exported_model(options.recipe)) {
    if (options.plan) fail_invalid("plot: --plan is of training steps; name a recipe or a run");
    model::ImportedModel net = import_model(options.recipe);
    return nn::diagram(net, Tensor::zeros(net.input_shape(), {.dtype = net.input_dtype()}));
  }
  Recipe recipe;
  load_recipe_or_run(recipe, options.recipe, options.overrides);
  const RecipeData data = load_data(recipe);
  nn::Sequential net = make_net(recipe, data.train, Device::cpu());
  return options.plan ? planned_step(recipe, data, net).step.diagram()
                      : nn::diagram(net, data.train.example());
}

}  // namespace

int run_plot(const PlotOptions& options) {
  const Diagram diagram = drawn(options);
  const std::string text = wants_svg(options) ? to_svg(diagram) : to_dot(diagram);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file(options.output, text);
  }
  return kExitOk;
}

}  // namespace thalweg::cli
