#include "cli/recipe/recipe.h"

#include "base/fail.h"
#include "cli/recipe/families.h"
#include "cli/recipe/read.h"

namespace thalweg::cli {

Recipe::Recipe() : init(initializer_kinds().front()), optimizer(optimizer_kinds().front()) {
  schedule.kind = Chosen(schedule_kinds().front());
  train.loss = Chosen(loss_kinds().front());
}

std::vector<Section> Recipe::sections() {
  return {
      {"run",
       "The run as a whole.",
       {{"name", &run.name, "of the run's folder; empty: the recipe's"},
        {"seed", &run.seed, "of everything that is drawn: weights, order, dropout", 0},
        {"folder", &run.folder, "in which the run's folder is made"}}},
      {"data",
       "What is trained and tested on, and how it is put into batches.",
       {{"batch_size", &data.batch_size, "samples of a batch", 1},
        {"shuffle", &data.shuffle, "a new order in each epoch; else the set's own"},
        {"workers", &data.workers, "threads that make batches ahead; the order is the same", 0,
         256},
        {"prefetch", &data.prefetch, "bytes of the batches made ahead; 0: two per worker", 0},
        one_of("last_batch", &data.last_batch,
               "what becomes of samples that do not fill a batch: a small batch, nothing, or the "
               "start of the next epoch",
               {"keep", "discard", "rollover"})},
       "set",
       data_set_kinds(),
       &data.set},
      {"data.transform",
       "A list of steps that change the samples, in this order.",
       {},
       "kind",
       transform_kinds(),
       nullptr,
       &transforms},
      {"net.init",
       "The first values of weights; biases begin with zeros.",
       {},
       "kind",
       initializer_kinds(),
       &init},
      {"net.layer",
       "The layers of the net, in this order. Input sizes are found by themselves.",
       {},
       "kind",
       layer_kinds(),
       nullptr,
       &layers},
      {"optimizer",
       "How weights follow their gradients.",
       {},
       "kind",
       optimizer_kinds(),
       &optimizer},
      {"schedule",
       "How the learning rate changes over the run.",
       {{"warmup_epochs", &schedule.warmup_epochs, "of a linear rise before it", 0},
        {"warmup_start", &schedule.warmup_start, "the rise begins at this part of the first rate",
         0, 1}},
       "kind",
       schedule_kinds(),
       &schedule.kind},
      {"train",
       "The loop.",
       {{"epochs", &train.epochs, "passes over the training data", 1},
        {"max_steps", &train.max_steps, "ends after so many steps; 0: no limit", 0},
        {"metrics", &train.metrics,
         "what is measured besides the loss: accuracy, top_5_accuracy (any number), precision, "
         "recall, f1, mae, mse, rmse, perplexity"},
        {"monitor", &train.monitor, "the figure that says which checkpoint is the best"},
        {"evaluate_every", &train.evaluate_every, "epochs between two tests; 0: only the last", 0},
        {"clip_norm", &train.clip_norm, "largest norm of all gradients together; 0: any", 0},
        {"clip_value", &train.clip_value, "largest size of a gradient's elements; 0: any", 0},
        {"stop_at_nan", &train.stop_at_nan, "an error at the first loss that is not a number"},
        {"plan", &train.plan, "replay steps as plans; else op by op, with the same bits"},
        {"memory_budget", &train.memory_budget,
         "bytes for the temporary tensors of a planned step, which computes some again to fit, "
         "with "
         "the same bits; 0: as many as it takes",
         0}}},
      {"train.loss", "What is made small.", {}, "kind", loss_kinds(), &train.loss},
      {"train.early_stopping",
       "Ends a run that gets no better.",
       {{"patience", &early_stopping.patience,
         "tests without a better monitored figure before the end; 0: never ends early", 0},
        {"min_delta", &early_stopping.min_delta, "what is better by no more than this is not", 0}}},
      {"train.checkpoints",
       "What a run goes on from when it was stopped.",
       {{"every_steps", &checkpoints.every_steps, "0: at the end of each epoch", 0},
        {"every_minutes", &checkpoints.every_minutes, "besides; 0: not by time", 0},
        {"keep", &checkpoints.keep, "how many are kept; 0: all", 0},
        {"keep_best", &checkpoints.keep_best, "keep the one with the best monitored figure, too"}}},
  };
}

void load_recipe(Recipe& recipe, std::string_view text, const std::string& name,
                 const std::string& base_name, std::span<const std::string> overrides) {
  read_recipe(text, name, overrides, recipe.sections());
  if (recipe.run.name.empty()) recipe.run.name = base_name;
  if (recipe.layers.empty()) {
    fail_invalid("recipe: the net has no layers; {}; give at least one [[net.layer]]", name);
  }
  if (recipe.train.clip_norm > 0 && recipe.train.clip_value > 0) {
    fail_invalid(
        "recipe: gradients are clipped twice; {}: train.clip_norm = {}, train.clip_value = {}; "
        "give one of them",
        name, recipe.train.clip_norm, recipe.train.clip_value);
  }
}

}  // namespace thalweg::cli
