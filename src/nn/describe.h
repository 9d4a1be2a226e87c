#pragma once

// Words for the one-line description of layers, and checks they share.

#include <string>

#include <thalweg/nn/activation.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::nn {

/// "None" for a size that is not known yet.
inline std::string size_text(int64_t size) { return size == 0 ? "None" : std::to_string(size); }

/// "Activation(relu)", or "linear".
inline std::string activation_text(const ActivationFunction& f) {
  return f ? std::string("Activation(") + f.name + ")" : f.name;
}

/// "(3, 3)".
std::string tuple_text(const Dims& values);

/// ", name=(1, 1)" if a value differs from `usual`, else "".
std::string unusual_text(const char* name, const Dims& values, int64_t usual);

/// Throws Error{invalid} unless `x` has the axes [N, C] and `axes` spatial ones.
void require_spatial(const char* layer, const Tensor& x, size_t axes);

}  // namespace thalweg::nn
