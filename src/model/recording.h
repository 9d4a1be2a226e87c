#pragma once

// What a function does, as the tape and the trace see it: ops with attributes, views among them,
// and changes in place.

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <thalweg/nn/module.h>
#include <thalweg/ops/call.h>

#include "graph/plan_graph.h"

namespace thalweg::model {

struct RawValue {
  enum class Kind : uint8_t { argument, parameter, constant, computed };
  Kind kind = Kind::computed;
  size_t index = 0;  // of the argument or the parameter
  TensorMeta meta;
  Tensor content;  // constant: its elements, row-major
};

struct RawRecord {
  const Op* op = nullptr;
  AttrBytes attrs;
  std::vector<int32_t> inputs, outputs;  // positions in values, or kAbsent
  int32_t into = -1;
  bool paused = false;
  int32_t layer = -1;
};

struct RawGraph {
  std::vector<RawValue> values;
  std::vector<RawRecord> records;
  std::vector<int32_t> results;
};

/// The layers of a net by address, in the order of walk().
struct LayerIndex {
  std::unordered_map<const nn::Module*, int32_t> positions;
  std::vector<std::string> places;  // "features.0 (Dense)"

  explicit LayerIndex(nn::Module* net);
};

using ModelFunction = FunctionRef<std::vector<Tensor>(std::span<const Tensor>)>;

/// Runs the function and notes what it does. Parameters that it changes in place stay as they are,
/// and so do random numbers. Throws Error{invalid} where it does what no record can say, naming the
/// layer.
RawGraph record_function(ModelFunction function, std::span<const Tensor> arguments,
                         const nn::ParameterList& parameters, const LayerIndex& layers,
                         bool training);

}  // namespace thalweg::model
