#pragma once

#include "cli/setup.h"

namespace thalweg::cli {

/// The net of a run, or an exported model, with the weights in `weights`, a safetensors file or a
/// checkpoint, or else its trained ones. Throws Error{io} if there are none yet.
nn::Sequential load_trained_net(const Recipe& recipe, const std::string& run,
                                const std::string& weights, const DataHalf& data, Device device);

}  // namespace thalweg::cli
