#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include <thalweg/base/file.h>
#include <thalweg/base/text.h>
#include <thalweg/thalweg.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/recipe/write.h"
#include "cli/recipes.h"
#include "cli/run_report.h"
#include "cli/setup.h"
#include "train/on_device.h"

namespace thalweg::cli {
namespace {

std::vector<std::string> overrides_of(const TrainOptions& options) {
  std::vector<std::string> overrides = options.overrides;
  if (options.seed) overrides.push_back(fmt::format("run.seed={}", *options.seed));
  if (!options.runs.empty()) overrides.push_back("run.folder=" + cli::quoted(options.runs));
  return overrides;
}

void load(Recipe& recipe, const TrainOptions& options) {
  const std::vector<std::string> overrides = overrides_of(options);
  if (options.resume.empty()) {
    load_recipe_by_name(recipe, options.recipe, overrides);
  } else {
    load_recipe_of_run(recipe, options.resume, overrides);
  }
}

train::SessionOptions session_options(const Recipe& recipe, data::DataLoader& test_loader) {
  train::SessionOptions options;
  options.epochs = recipe.train.epochs;
  options.max_steps = recipe.train.max_steps;
  options.metrics = make_metrics(recipe);
  options.evaluation = &test_loader;
  options.evaluate_every_epochs = recipe.train.evaluate_every;
  options.monitor.figure = recipe.train.monitor;
  options.early_stopping = {recipe.early_stopping.patience, recipe.early_stopping.min_delta};
  options.checkpoints = {.every_steps = recipe.checkpoints.every_steps,
                         .every_minutes = recipe.checkpoints.every_minutes,
                         .keep_last = recipe.checkpoints.keep,
                         .keep_best = recipe.checkpoints.keep_best};
  options.stop_at_nan = recipe.train.stop_at_nan;
  options.plan = recipe.train.plan;
  options.memory_budget = plan_options(recipe).memory_budget;
  return options;
}

// Where the time went, if the net had to wait for its data.
void print_waiting(const data::DataLoader& loader, const train::SessionResult& result) {
  constexpr double kNoticed = 0.1;
  const std::optional<data::SourceStatistics> data = loader.statistics();
  if (!data || data->wait_seconds < kNoticed * result.seconds) return;
  fmt::print(
      "data    the net waited {} of {} for it: reading and parsing {}, making batches {}, of that "
      "transforms {}, summed over threads; data.workers = {}\n",
      format_duration(data->wait_seconds), format_duration(result.seconds),
      format_duration(data->load_seconds), format_duration(data->make_seconds),
      format_duration(data->transform_seconds), loader.options().workers);
}

void print_profile(Profile& profile, const train::RunPaths& paths) {
  profile.stop();
  profile.write_trace(paths.profile);
  fmt::print("\n{}\n", profile.table());
}

// Why a run has nothing left to train, and how it goes on all the same.
std::string text_of_end(train::EndReason reason, const Recipe& recipe) {
  if (reason != train::EndReason::early_stopping)
    return "to go on, --set train.epochs=N or train.max_steps=N with more";
  const int64_t patience = recipe.early_stopping.patience;
  return fmt::format(
      "it stopped early, as the last {} evaluations brought no better {}; to go on, --set "
      "train.early_stopping.patience=N with more than {}, or 0 for none",
      patience, recipe.train.monitor, patience);
}

// Says where the run goes on. False if it has nothing left to do.
bool resume(train::Session& session, const Recipe& recipe, const std::string& folder) {
  session.resume(folder);
  const int64_t done = session.epoch() - 1;
  if (done > recipe.train.epochs) {
    fail_invalid(
        "train: {} has trained {} epochs ({} steps) already; train.epochs = {} is less; to go on, "
        "--set train.epochs=N with a larger N",
        folder, done, session.steps(), recipe.train.epochs);
  }
  const train::RunPaths& paths = *session.paths();
  const std::optional<train::EndReason> end = session.end();
  if (end && std::filesystem::exists(paths.model)) {
    fmt::print("run     {} is finished: {} epochs, {} steps; nothing is left to train; {}\n",
               folder, done, session.steps(), text_of_end(*end, recipe));
    return false;
  }
  fmt::print("run     {} goes on after step {}, in epoch {}\n", folder, session.steps(),
             session.epoch());
  std::fflush(stdout);
  return true;
}

int print_result(const train::Session& session, const train::SessionResult& result) {
  const train::RunPaths& paths = *session.paths();
  if (result.reason == train::EndReason::signal) return kExitSignal + result.signal;
  fmt::print("run     {}\nreport  {}\n", paths.folder, paths.report);
  return kExitOk;
}

// What does not fit together is an error before there is a run's folder.
void check_first_batch(nn::Sequential& net, const DataHalf& data, const train::LossFunction& loss) {
  data::DataLoader loader = data.loader({.batch_size = 2});
  for (const data::Batch& batch : loader) {
    train::with_batch_on(train::device_of(net.parameters()), batch, [&](const data::Batch& there) {
      loss(train::output_of(net, there), there);
    });
    return;
  }
}

int train_recipe(Recipe& recipe, const TrainOptions& options, const std::string& program,
                 const std::string& command) {
  const Device device = apply(options.common);
  manual_seed(static_cast<uint64_t>(recipe.run.seed));
  const RecipeData data =
      load_data(recipe, options.resume.empty() ? OtherSet::allowed : OtherSet::refused);
  nn::Sequential net = make_net(recipe, data.train, device);
  fmt::print("Data: {}\n\n{}\n", describe(data),
             nn::to_string(nn::summarize(net, data.train.example().to(device))));
  std::fflush(stdout);

  data::DataLoader loader = make_train_loader(recipe, data.train);
  data::DataLoader test_loader = make_test_loader(data.test);
  train::Trainer trainer = make_trainer(recipe, net, loader.size());
  const train::LossFunction loss = recipe.train.loss.as<LossPart>().make();
  const std::string config = write_recipe(recipe.sections());

  train::SessionOptions session_settings = session_options(recipe, test_loader);
  session_settings.progress.result_fd = STDOUT_FILENO;
  session_settings.resume_command = program + " train --resume {}";
  session_settings.complete_report = [&](train::ReportData& report) {
    report.command = command;
    report.device = to_string(device);
    complete_report(report, recipe, data, net, loss);
  };
  train::Session session(net, loss, trainer, loader, std::move(session_settings));
  if (options.resume.empty()) {
    check_first_batch(net, data.train, loss);
    session.start_run(recipe.run.folder, recipe.run.name, config);
  } else {
    if (!resume(session, recipe, options.resume)) return kExitOk;
    // The checkpoint has the rate it was trained with; the recipe's is the one that is wanted.
    trainer.set_learning_rate(recipe.optimizer.as<OptimizerPart>().make().learning_rate());
    write_file(session.paths()->config, config);
  }
  std::optional<Profile> profile;
  if (options.profile) profile.emplace();
  const train::SessionResult result = session.run();
  if (profile) print_profile(*profile, *session.paths());
  print_waiting(loader, result);
  return print_result(session, result);
}

}  // namespace

int run_train(const TrainOptions& options, const std::string& program, const std::string& command) {
  Recipe recipe;
  if (options.keys) {
    fmt::print("{}", recipe_reference(recipe.sections()));
    return kExitOk;
  }
  if (options.recipe.empty() && options.resume.empty()) {
    fmt::print("{}", recipe_list());
    return kExitOk;
  }
  if (!options.recipe.empty() && !options.resume.empty()) {
    fail_invalid("train: a run that goes on has its own recipe; '{}' and --resume {}; give one",
                 options.recipe, options.resume);
  }
  if (!options.resume.empty() && !options.runs.empty()) {
    fail_invalid("train: a run that goes on stays in its folder; --resume {} and --runs {}",
                 options.resume, options.runs);
  }
  load(recipe, options);
  if (options.print) {
    fmt::print("{}", write_recipe(recipe.sections()));
    return kExitOk;
  }
  return train_recipe(recipe, options, program, command);
}

}  // namespace thalweg::cli
