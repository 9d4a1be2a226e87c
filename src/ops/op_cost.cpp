#include "ops/op_cost.h"

#include <algorithm>
#include <string_view>

namespace thalweg {
namespace {

int64_t bias_adds(std::span<const TensorImpl* const> inputs, int64_t outputs) {
  return inputs.size() > 2 && inputs[2] ? outputs : 0;
}

}  // namespace

int64_t op_cost(const Op& op, std::span<const TensorImpl* const> inputs,
                std::span<TensorImpl* const> outputs) {
  if (op.flags.view || !op.infer) return 0;
  const std::string_view name = op.name;
  const int64_t out = outputs[0]->meta.size();
  if (name == "linear" || name == "matmul") {
    return 2 * out * inputs[0]->meta.shape.back() + bias_adds(inputs, out);
  }
  // A window's products for each element of the result, or of the input.
  if (name == "conv" || name == "conv_transpose") {
    const TensorMeta &x = inputs[0]->meta, &weight = inputs[1]->meta;
    const int64_t window = weight.size() / std::max<int64_t>(weight.shape[0], 1);
    return 2 * (name == "conv" ? out : x.size()) * window + bias_adds(inputs, out);
  }
  if (name == "conv_weight_gradient") {
    const TensorMeta& weight = outputs[0]->meta;
    return 2 * inputs[1]->meta.size() * (weight.size() / std::max<int64_t>(weight.shape[0], 1));
  }
  // A product of each query with each key, and with its value.
  if (name == "attention") {
    const int64_t scores = outputs[1]->meta.size() * inputs[1]->meta.shape[2];
    return 2 * scores * (inputs[1]->meta.shape[3] + inputs[2]->meta.shape[3]);
  }
  // The products of state and weight at each time, and as many additions to the input's.
  if (name == "recurrent") {
    const int64_t gates = inputs[0]->meta.size();
    return 2 * gates * inputs[1]->meta.shape[1] + gates;
  }
  int64_t largest = 0;
  for (const TensorImpl* in : inputs) largest = std::max(largest, in ? in->meta.size() : 0);
  for (const TensorImpl* result : outputs) largest = std::max(largest, result->meta.size());
  return largest;
}

}  // namespace thalweg
