// Says what is in a file or a run's folder.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <thalweg/base/reader.h>
#include <thalweg/base/text.h>
#include <thalweg/data/idx.h>
#include <thalweg/model/safetensors.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/train/checkpoint.h>
#include <thalweg/train/run_folder.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/inspect_corpus.h"

namespace thalweg::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Json shape_of(const Shape& shape) {
  Json list = Json::array();
  for (const int64_t size : shape) list.push_back(size);
  return list;
}

Json describe_idx(const std::string& path) {
  const Tensor tensor = data::read_idx(path);
  Json object = {{"file", path},
                 {"format", "idx"},
                 {"dtype", name(tensor.dtype())},
                 {"shape", shape_of(tensor.shape())}};
  if (tensor.size() == 0) return object;
  const Tensor values = tensor.to(DType::f64);
  object["min"] = min(values).item<double>();
  object["max"] = max(values).item<double>();
  object["mean"] = mean(values).item<double>();
  return object;
}

// A run's checkpoint is a safetensors file with parts of its own among the metadata.
bool is_checkpoint(const model::Metadata& metadata) {
  const auto at = metadata.lower_bound("part/");
  return at != metadata.end() && at->first.starts_with("part/");
}

// Reading it checks every part.
void add_checkpoint(Json& object, const std::string& path) {
  const train::Checkpoint checkpoint = train::Checkpoint::read(path);
  object["format"] = "checkpoint";
  if (checkpoint.has("session/step")) object["step"] = checkpoint.integer("session/step");
}

Json describe_safetensors(const std::string& path) {
  const model::SafetensorsFile file(path);
  Json object = {{"file", path}, {"format", "safetensors"}};
  int64_t elements = 0;
  Json tensors = Json::array();
  for (const model::TensorEntry& entry : file.entries()) {
    elements += element_count(entry.shape);
    tensors.push_back({{"name", entry.name},
                       {"dtype", name(entry.dtype)},
                       {"shape", shape_of(entry.shape)},
                       {"bytes", entry.end - entry.begin}});
  }
  if (is_checkpoint(file.metadata())) add_checkpoint(object, path);
  object["elements"] = elements;
  object["metadata"] = file.metadata();
  object["tensors"] = std::move(tensors);
  return object;
}

Json figures_of(const train::Figures& figures) {
  Json object = Json::object();
  for (const train::Figure& figure : figures) object[figure.name] = figure.value;
  return object;
}

// Reads them to their ends; what is wrong with each that is damaged goes to `damaged`.
void check_checkpoints(const train::CheckpointFolder& checkpoints, Json& damaged) {
  std::vector<std::string> paths;
  for (const int64_t step : checkpoints.steps()) paths.push_back(checkpoints.path_of(step));
  if (fs::exists(checkpoints.best_path())) paths.push_back(checkpoints.best_path());
  for (const std::string& path : paths) {
    try {
      train::Checkpoint::read(path);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::io) throw;
      damaged.push_back(error.what());
    }
  }
}

// It has no checksums: all of it is there.
void check_model(const std::string& path, Json& damaged) {
  try {
    const model::SafetensorsFile file(path);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    damaged.push_back(error.what());
  }
}

Json describe_run(const std::string& folder, std::string& failure) {
  const train::RunPaths paths(folder);
  if (!fs::exists(paths.config)) {
    fail_io("inspect: the folder is no run's; {}: there is no config.toml in it", folder);
  }
  Json object = {{"file", folder}, {"format", "run"}};
  int64_t step = 0, epoch = 0;
  train::Figures train, test;
  if (fs::exists(paths.metrics)) {
    for (const train::MetricsLine& line : train::read_metrics(paths.metrics)) {
      step = line.step;
      epoch = line.epoch;
      if (line.part == "train") train = line.figures;
      if (line.part == "test") test = line.figures;
    }
  }
  object["steps"] = step;
  object["epochs"] = epoch;
  object["train"] = figures_of(train);
  object["test"] = figures_of(test);
  const train::CheckpointFolder checkpoints(paths.checkpoints);
  object["checkpoints"] = checkpoints.steps();
  object["model"] = fs::exists(paths.model);
  object["report"] = fs::exists(paths.report);
  Json damaged = Json::array();
  check_checkpoints(checkpoints, damaged);
  if (fs::exists(paths.model)) check_model(paths.model, damaged);
  if (!damaged.empty()) {
    failure = fmt::format("inspect: files of the run are damaged; {}: {} of them", folder,
                          damaged.size());
  }
  object["damaged"] = std::move(damaged);
  return object;
}

Json describe(const std::string& path, std::string& failure) {
  if (fs::is_directory(path)) return describe_run(path, failure);
  std::byte head[9] = {};
  const size_t size = open_reader(path)->read_some(head);
  if (size >= 2 && head[0] == std::byte{0} && head[1] == std::byte{0}) return describe_idx(path);
  // A safetensors file begins with eight bytes of a size and then JSON; by its name, its own errors
  // say what is wrong with it.
  if (fs::path(path).extension() != ".safetensors" && (size < 9 || head[8] != std::byte{'{'})) {
    fail_io(
        "inspect: neither the name nor the content tells the format of {}; name it by --format, "
        "see thalweg inspect --help",
        path);
  }
  return describe_safetensors(path);
}

// A terminal must not take what is in a file for a command to itself.
std::string text_of(const Json& value) {
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }, '?');
  return text;
}

void print_text(const Json& object) {
  fmt::print("{}: {}\n", text_of(object["file"]), text_of(object["format"]));
  for (const auto& [key, value] : object.items()) {
    if (key == "file" || key == "format" || key == "messages" || key == "damaged") continue;
    if (key == "streams") {
      for (const auto& [name, total] : value.items())
        fmt::print("  {:<12} {} samples, {} values, sum {}\n", name, total["samples"].dump(),
                   total["values"].dump(), total["sum"].dump());
      continue;
    }
    if (key != "tensors" && key != "metadata") {
      fmt::print("  {:<12} {}\n", key, text_of(value));
      continue;
    }
    for (const auto& [name, text] : value.items()) {
      if (key == "metadata") {
        fmt::print("  {:<32} {}\n", text_of(name), text_of(text));
      } else {
        fmt::print("  {:<32} {:<5} {}\n", text_of(text["name"]), text_of(text["dtype"]),
                   text["shape"].dump());
      }
    }
  }
  for (const char* list : {"messages", "damaged"}) {
    if (!object.contains(list)) continue;
    for (const Json& message : object[list]) fmt::print("  {}\n", text_of(message));
  }
}

int inspect(const std::string& path, const InspectOptions& options) {
  std::string failure;
  const Json object = is_corpus(path, options.data) && !fs::is_directory(path)
                          ? describe_corpus(path, options.data, failure)
                          : describe(path, failure);
  if (options.json) {
    fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    print_text(object);
  }
  if (failure.empty()) return kExitOk;
  std::fflush(stdout);
  fmt::print(stderr, "thalweg: {}\n", failure);
  return kExitIo;
}

}  // namespace

// All of them, whatever is wrong with some.
int run_inspect(const InspectOptions& options) {
  int exit = kExitOk;
  for (const std::string& path : options.files) {
    try {
      exit = worse_of(exit, inspect(path, options));
    } catch (const Error&) {
      std::fflush(stdout);
      exit = worse_of(exit, report_error());
    }
  }
  return exit;
}

}  // namespace thalweg::cli
