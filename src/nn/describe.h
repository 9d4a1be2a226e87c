#pragma once

// Words for the one-line description of layers.

#include <string>

#include <thalweg/nn/activation.h>

namespace thalweg::nn {

/// "None" for a size that is not known yet.
inline std::string size_text(int64_t size) { return size == 0 ? "None" : std::to_string(size); }

/// "Activation(relu)", or "linear".
inline std::string activation_text(const ActivationFunction& f) {
  return f ? std::string("Activation(") + f.name + ")" : f.name;
}

}  // namespace thalweg::nn
