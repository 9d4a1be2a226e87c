#pragma once

// What a recipe says, with every default filled in.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/recipe/part.h"

namespace thalweg::cli {

struct RunTable {
  std::string name;
  int64_t seed = 1;
  std::string folder = "runs";
};

struct DataTable {
  Chosen set;
  int64_t batch_size = 64;
  bool shuffle = true;
  int64_t workers = 0;
  ByteSize prefetch;
  std::string last_batch = "keep";
};

struct ScheduleTable {
  Chosen kind;
  double warmup_epochs = 0;
  double warmup_start = 0;
};

struct TrainTable {
  int64_t epochs = 10;
  int64_t max_steps = 0;
  Chosen loss;
  std::vector<std::string> metrics = {"accuracy"};
  std::string monitor = "loss";
  int64_t evaluate_every = 1;
  double clip_norm = 0;
  double clip_value = 0;
  bool stop_at_nan = true;
  bool plan = true;
  ByteSize memory_budget;
};

struct EarlyStoppingTable {
  int64_t patience = 0;
  double min_delta = 0;
};

struct CheckpointsTable {
  int64_t every_steps = 0;
  double every_minutes = 0;
  int64_t keep = 3;
  bool keep_best = true;
};

struct Recipe {
  Recipe();
  Recipe(const Recipe&) = delete;  // sections are bound to its members
  Recipe& operator=(const Recipe&) = delete;

  RunTable run;
  DataTable data;
  std::vector<Chosen> transforms;
  Chosen init;
  std::vector<Chosen> layers;
  Chosen optimizer;
  ScheduleTable schedule;
  TrainTable train;
  EarlyStoppingTable early_stopping;
  CheckpointsTable checkpoints;

  /// All tables in the order in which they are written, bound to this object.
  std::vector<Section> sections();
};

/// Fills `recipe` from text; see read_recipe. A recipe that has no name is called `base_name`.
/// Throws Error{invalid}, too, for a net without layers and for settings that exclude each other.
void load_recipe(Recipe& recipe, std::string_view text, const std::string& name,
                 const std::string& base_name, std::span<const std::string> overrides);

}  // namespace thalweg::cli
