#include "cli/setup.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include <thalweg/base/file.h>
#include <thalweg/base/log.h>
#include <thalweg/base/threads.h>
#include <thalweg/device/device.h>

#include "base/fail.h"
#include "cli/recipe/families.h"
#include "cli/recipes.h"

namespace thalweg::cli {
namespace {

constexpr int64_t kTestBatch = 256;

// `in_place_of` becomes the name of a set that could not be had.
Splits load_splits(Recipe& recipe, OtherSet other, std::string& in_place_of) {
  const auto seed = static_cast<uint64_t>(recipe.run.seed);
  const auto& part = recipe.data.set.as<DataSetPart>();
  try {
    return part.load(seed);
  } catch (const Error& error) {
    std::optional<Chosen> fallback = part.fallback();
    if (error.kind() != ErrorKind::unavailable || !fallback || other == OtherSet::refused) throw;
    in_place_of = recipe.data.set.kind->name;
    log(LogLevel::warn, fmt::format("{}; {} in its place", error.what(), fallback->kind->name));
    recipe.run.name += fmt::format("-on-{}", fallback->kind->name);
    recipe.data.set = std::move(*fallback);
    return recipe.data.set.as<DataSetPart>().load(seed);
  }
}

DataHalf transformed(const DataHalf& set, const Recipe& recipe, bool training) {
  std::vector<data::Transform> steps;
  for (const Chosen& chosen : recipe.transforms) {
    const auto& part = chosen.as<TransformPart>();
    if (training || !part.random()) steps.push_back(part.make());
  }
  return set.transformed(std::move(steps));
}

// Known before anything is trained: both parts have samples, and of one shape.
void check_splits(const Splits& splits) {
  for (const DataHalf* half : {&splits.train, &splits.test}) {
    if (half->set() && half->samples() == 0) {  // of files, the reader sees it
      fail_invalid("data: {} has no samples to {}", half->name(),
                   half == &splits.train ? "train on" : "test on");
    }
  }
  const Shape train = splits.train.field().shape, test = splits.test.field().shape;
  if (train != test) {
    fail_invalid("data: samples to train on are {}, samples to test on {}; {}", to_string(train),
                 to_string(test), splits.train.name());
  }
}

// Without values.
nn::Sequential layers_of(const Recipe& recipe) {
  nn::Sequential net;
  for (const Chosen& chosen : recipe.layers) chosen.as<LayerPart>().add_to(net);
  return net;
}

data::LastBatch last_batch_of(const std::string& name) {
  if (name == "discard") return data::LastBatch::discard;
  return name == "rollover" ? data::LastBatch::rollover : data::LastBatch::keep;
}

}  // namespace

Device apply(const CommonOptions& options) {
  if (options.threads > 0) set_num_threads(options.threads);
  num_threads();  // a wrong THALWEG_THREADS is an error now, not at the first large product
  if (options.verbose > 0) set_verbosity(options.verbose);
  return parse_device(options.device);
}

RecipeData load_data(Recipe& recipe, OtherSet other) {
  std::string in_place_of;
  Splits splits = load_splits(recipe, other, in_place_of);
  check_splits(splits);
  if (recipe.train.loss.as<LossPart>().takes_classes())
    splits = {splits.train.with_class_labels(), splits.test.with_class_labels()};
  const nn::Sequential net = layers_of(recipe);
  return {transformed(splits.train, recipe, true).for_net(net),
          transformed(splits.test, recipe, false).for_net(net), splits.test,
          std::move(in_place_of)};
}

// Counting the samples of files would read all of them.
std::string describe(const RecipeData& data) {
  const auto part = [](const DataHalf& half) {
    return half.set() ? fmt::format("{}, {} samples", half.name(), half.samples()) : half.name();
  };
  std::string text = fmt::format("{}; {}", part(data.train), part(data.test));
  if (!data.in_place_of.empty())
    text += fmt::format("; in place of {}, which is not there", data.in_place_of);
  return text;
}

DataHalf transformed_for_test(const Recipe& recipe, const DataHalf& raw) {
  return transformed(raw, recipe, false);
}

// Views come last: other steps are for single pictures.
DataHalf views_for_test(const Recipe& recipe, const DataHalf& raw) {
  std::vector<data::Transform> steps;
  data::Transform views;
  for (const Chosen& chosen : recipe.transforms) {
    const auto& part = chosen.as<TransformPart>();
    if (part.random()) continue;
    if (data::Transform many = part.views())
      views = std::move(many);
    else
      steps.push_back(part.make());
  }
  if (!views) {
    fail_invalid(
        "eval: the recipe has no transform center_crop, in whose place views could be cut out of "
        "pictures; {}",
        raw.name());
  }
  steps.push_back(std::move(views));
  return raw.transformed(std::move(steps));
}

nn::Sequential make_net(const Recipe& recipe, const DataHalf& data, Device device) {
  nn::Sequential net = layers_of(recipe);
  const auto seed = static_cast<uint64_t>(recipe.run.seed);
  net.initialize(recipe.init.as<InitializerPart>().make(), {.seed = seed, .device = device});
  net(data.example().to(device));
  return net;
}

data::DataLoader make_train_loader(const Recipe& recipe, const DataHalf& data) {
  const DataTable& table = recipe.data;
  return data.loader({.batch_size = table.batch_size,
                      .shuffle = table.shuffle,
                      .workers = static_cast<int>(table.workers),
                      .prefetch_bytes = table.prefetch.bytes,
                      .last_batch = last_batch_of(table.last_batch),
                      .seed = static_cast<uint64_t>(recipe.run.seed)});
}

data::DataLoader make_test_loader(const DataHalf& data) {
  return data.loader({.batch_size = kTestBatch, .seed = 0});
}

train::Trainer make_trainer(const Recipe& recipe, nn::Sequential& net, int64_t steps_per_epoch) {
  const RunLength length{.steps_per_epoch = steps_per_epoch, .epochs = recipe.train.epochs};
  train::TrainerOptions options;
  options.schedule = recipe.schedule.kind.as<SchedulePart>().make(length);
  if (const int64_t steps = length.steps_in(recipe.schedule.warmup_epochs); steps > 0) {
    options.schedule = options.schedule.with_warmup(
        {.steps = steps, .start_factor = recipe.schedule.warmup_start});
  }
  if (recipe.train.clip_value > 0) options.clip_value = recipe.train.clip_value;
  if (recipe.train.clip_norm > 0) options.clip_norm = recipe.train.clip_norm;
  return train::Trainer(net.parameters(), recipe.optimizer.as<OptimizerPart>().make(), options);
}

std::vector<metric::MetricPtr> make_metrics(const Recipe& recipe) {
  std::vector<metric::MetricPtr> metrics;
  for (const std::string& name : recipe.train.metrics) metrics.push_back(metric::by_name(name));
  return metrics;
}

void load_recipe_by_name(Recipe& recipe, const std::string& name_or_path,
                         std::span<const std::string> overrides) {
  const RecipeText text = find_recipe(name_or_path);
  load_recipe(recipe, text.text, text.name, text.base_name, overrides);
}

void load_recipe_of_run(Recipe& recipe, const std::string& folder,
                        std::span<const std::string> overrides) {
  const std::string path = train::RunPaths(folder).config;
  if (!std::filesystem::exists(path)) {
    fail_io(
        "run: there is no such run; {}: no config.toml in it; a run is the folder that `thalweg "
        "train` named at its end, such as runs/NAME-TIME",
        folder);
  }
  load_recipe(recipe, read_file(path, kMaxRecipeBytes), path,
              std::filesystem::path(folder).filename().string(), overrides);
}

void load_recipe_or_run(Recipe& recipe, const std::string& name_or_path,
                        std::span<const std::string> overrides) {
  if (std::filesystem::is_directory(name_or_path)) {
    load_recipe_of_run(recipe, name_or_path, overrides);
  } else {
    load_recipe_by_name(recipe, name_or_path, overrides);
  }
}

PlanOptions plan_options(const Recipe& recipe) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const uint64_t bytes = std::min(recipe.train.memory_budget.bytes, kMost);
  return {.measure = true, .memory_budget = static_cast<int64_t>(bytes)};
}

StepOfRecipe planned_step(const Recipe& recipe, const RecipeData& data, nn::Sequential& net) {
  data::DataLoader loader = make_train_loader(recipe, data.train);
  auto trainer = std::make_unique<train::Trainer>(make_trainer(recipe, net, loader.size()));
  const train::PlannedStep step(net, recipe.train.loss.as<LossPart>().make(), *trainer,
                                plan_options(recipe));
  const data::Batch batch = *loader.begin();
  constexpr int kSteps = 8;  // as many as it takes
  for (int i = 0; i < kSteps; ++i) step(batch);
  return {std::move(trainer), step};
}

}  // namespace thalweg::cli
