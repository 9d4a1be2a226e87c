#pragma once

// What a net consists of, and what one call of it costs.

#include <string>
#include <vector>

#include <thalweg/nn/module.h>

namespace thalweg::nn {

/// One call of a layer: of a module without children, or with parameters of its own.
struct LayerSummary {
  std::string name;         ///< its path in the net, "mlp.0"; "" for the net itself
  std::string type;         ///< "Dense"
  std::string description;  ///< "Dense(784 -> 64, Activation(relu))"; the type if it has children
  Shape output;
  DType dtype = DType::f32;  ///< of the output
  int64_t parameters = 0;    ///< elements of its own ones; those of an earlier layer count there
  int64_t trainable = 0;     ///< those with a gradient
  int64_t operations = 0;    ///< see NetSummary
  uint64_t output_bytes = 0;
};

/// The output of layer `from` reaches layer `to` without another layer between; -1 is the input.
struct LayerEdge {
  int from = -1;
  int to = -1;

  friend bool operator==(const LayerEdge&, const LayerEdge&) = default;
};

struct NetSummary {
  Shape input;
  std::vector<LayerSummary> layers;  ///< in the order of their calls
  std::vector<LayerEdge> edges;      ///< ordered by `to`, then `from`; a layer may repeat the input
  int64_t parameters = 0;            ///< elements, each parameter once
  int64_t trainable = 0;             ///< those with a gradient
  /// Of one call in prediction mode: a product with a sum counts 2, every other op one per element
  /// of its largest array, a view nothing.
  int64_t operations = 0;
  uint64_t parameter_bytes = 0;
  uint64_t gradient_bytes = 0;  ///< of the trainable ones
  uint64_t output_bytes = 0;    ///< of all layers, what training keeps at the least
};

/// Calls the net on `input` in prediction mode and reports on it; unknown sizes become known.
/// Throws what the call throws, e.g. that the net was not initialised.
THALWEG_API NetSummary summarize(Module& net, const Tensor& input);
/// With zeros of this shape and dtype as the input.
THALWEG_API NetSummary summarize(Module& net, const Shape& input, DType dtype = DType::f32);

/// A table: a line per layer, then the totals.
THALWEG_API std::string to_string(const NetSummary& summary);

/// to_string(summarize(net, input)).
THALWEG_API std::string summary(Module& net, const Shape& input, DType dtype = DType::f32);

}  // namespace thalweg::nn
