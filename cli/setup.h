#pragma once

// A recipe turned into what trains: data, net, loss, optimizer.

#include <memory>
#include <optional>
#include <string>

#include <thalweg/graph/plan.h>

#include "cli/options.h"
#include "cli/recipe/families.h"
#include "cli/recipe/recipe.h"

namespace thalweg::cli {

/// Sets threads and verbosity; returns the device. Throws Error{unavailable} if it is not there.
Device apply(const CommonOptions& options);

/// The data of a recipe with its transforms.
struct RecipeData {
  DataHalf train;
  DataHalf test;
  DataHalf raw_test;             ///< without transforms, to show its samples
  std::string in_place_of = {};  ///< the set that could not be had; "": it is the recipe's own
};

/// Whether another set will do. What was trained or measured on one set must not go on with
/// another.
enum class OtherSet : uint8_t { allowed, refused };

/// Where the set cannot be had, and recipe and caller allow another, the recipe is changed to that
/// one, its run is called after it, and a warning says so.
RecipeData load_data(Recipe& recipe, OtherSet other = OtherSet::allowed);

/// "drawn_digits (train), 60000 samples; drawn_digits (test), 10000 samples"
std::string describe(const RecipeData& data);

/// Samples as the net sees them when it is tested.
DataHalf transformed_for_test(const Recipe& recipe, const DataHalf& raw);
/// The same, but for ten views in place of the part that a center_crop takes. Throws Error{invalid}
/// if the recipe has none.
DataHalf views_for_test(const Recipe& recipe, const DataHalf& raw);

/// The net, initialised by the recipe's seed, every size known from a sample of `data`.
nn::Sequential make_net(const Recipe& recipe, const DataHalf& data, Device device);

data::DataLoader make_train_loader(const Recipe& recipe, const DataHalf& data);
data::DataLoader make_test_loader(const DataHalf& data);

/// The optimizer with schedule and clipping.
train::Trainer make_trainer(const Recipe& recipe, nn::Sequential& net, int64_t steps_per_epoch);

std::vector<metric::MetricPtr> make_metrics(const Recipe& recipe);

/// The recipe of a run's folder, or by name or path; with overrides.
void load_recipe_by_name(Recipe& recipe, const std::string& name_or_path,
                         std::span<const std::string> overrides);
void load_recipe_of_run(Recipe& recipe, const std::string& folder,
                        std::span<const std::string> overrides);

/// Either: what names a folder is a run's.
void load_recipe_or_run(Recipe& recipe, const std::string& name_or_path,
                        std::span<const std::string> overrides);

/// Training steps of a recipe that have been run until they were planned.
struct StepOfRecipe {
  std::unique_ptr<train::Trainer> trainer;
  train::PlannedStep step;
};
PlanOptions plan_options(const Recipe& recipe);
StepOfRecipe planned_step(const Recipe& recipe, const RecipeData& data, nn::Sequential& net);

}  // namespace thalweg::cli
