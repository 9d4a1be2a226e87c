#include "cli/trained_net.h"

#include <filesystem>

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

}  // namespace

nn::Sequential load_trained_net(const Recipe& recipe, const std::string& run,
                                const std::string& weights, const DataHalf& data, Device device) {
  nn::Sequential net = make_net(recipe, data, device);
  const std::string path = weights.empty() ? weights_of_run(run) : weights;
  if (train::is_checkpoint(path)) {
    train::load_weights(net, train::Checkpoint::read(path));
  } else {
    model::load_parameters(net, path);
  }
  return net;
}

}  // namespace thalweg::cli
