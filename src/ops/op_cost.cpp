#include "ops/op_cost.h"

#include <algorithm>
#include <string_view>

#include "ops/recurrent.h"

namespace thalweg {
namespace {

int64_t bias_adds(std::span<const TensorImpl* const> inputs, int64_t outputs) {
  return inputs.size() > 2 && inputs[2] ? outputs : 0;
}

int64_t bytes_of(const TensorMeta& meta) {
  return meta.size() * static_cast<int64_t>(item_size(meta.dtype));
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
  // The scores once more, and the gradients of queries, keys, values and scores.
  if (name == "attention_vjp") {
    const int64_t scores = inputs[5]->meta.size() * inputs[2]->meta.shape[2];
    return 2 * scores * (3 * inputs[2]->meta.shape[3] + 2 * inputs[3]->meta.shape[3]);
  }
  // The products of state and weight at each time, and as many additions to the input's.
  if (name == "recurrent") {
    const int64_t gates = inputs[0]->meta.size();
    return 2 * gates * inputs[1]->meta.shape[1] + gates;
  }
  // The gates' gradients times the weight, and times the states.
  if (name == "recurrent_vjp") {
    const int64_t gates = outputs[RecurrentVjpOut::gates]->meta.size();
    return 4 * gates * inputs[RecurrentVjpIn::weight]->meta.shape[1] + gates;
  }
  // A product with a row of the dense side for each value of the sparse one.
  if (name == "csr_matmul") return 2 * inputs[0]->meta.size() * outputs[0]->meta.shape[1];
  if (name == "csr_transposed_matmul") return 2 * inputs[0]->meta.size() * inputs[3]->meta.shape[1];
  if (name == "csr_pairs") return 2 * inputs[1]->meta.size() * inputs[0]->meta.shape[1];
  int64_t largest = 0;
  for (const TensorImpl* in : inputs) largest = std::max(largest, in ? in->meta.size() : 0);
  for (const TensorImpl* result : outputs) largest = std::max(largest, result->meta.size());
  return largest;
}

int64_t op_bytes(const Op& op, std::span<const TensorImpl* const> inputs,
                 std::span<TensorImpl* const> outputs) {
  const std::string_view name = op.name;
  int64_t bytes = 0;
  for (const TensorImpl* result : outputs) bytes += bytes_of(result->meta);
  const bool picks = name == "take" || name == "gather";
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const int64_t all = bytes_of(inputs[i]->meta);
    bytes += picks && i == 0 ? std::min(all, bytes_of(outputs[0]->meta)) : all;
  }
  return bytes;
}

}  // namespace thalweg
