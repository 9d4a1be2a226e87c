#include "cli/trained_net.h"

#include <filesystem>

#include <thalweg/model/exported.h>
#include <thalweg/model/parameters.h>
#include <thalweg/train/checkpoint.h>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

std::string weights_of_run(const std::string& run) {
  const train::RunPaths paths(run);
  if (std::filesystem::exists(paths.model)) return paths.model;
  fail_io(
      "load: the run has no trained net yet; {}: expected model.safetensors; finish it by "
      "thalweg train --resume {}, or give --weights",
      run, run);
}

void load_weights(nn::Module& net, const std::string& path) {
  if (train::is_checkpoint(path)) {
    train::load_weights(net, train::Checkpoint::read(path));
  } else {
    model::load_parameters(net, path);
  }
}

}  // namespace

nn::Sequential load_trained_net(const Recipe& recipe, const std::string& run,
                                const std::string& weights, const DataHalf& data, Device device) {
  if (model::is_exported_model(run)) {
    model::ImportedModel net = import_model(run);
    if (!weights.empty()) load_weights(net, weights);
    net.to(device);
    return nn::Sequential(std::move(net));
  }
  nn::Sequential net = make_net(recipe, data, device);
  load_weights(net, weights.empty() ? weights_of_run(run) : weights);
  return net;
}

}  // namespace thalweg::cli
