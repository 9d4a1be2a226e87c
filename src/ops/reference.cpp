#include "ops/reference.h"

namespace thalweg {

Scratch<double> to_doubles(const TensorImpl& tensor) {
  Scratch<double> result(tensor.meta.size());
  visit_dtype(tensor.meta.dtype, [&](auto zero) {
    const auto* in = tensor.as<decltype(zero)>();
    int64_t next = 0;
    for_each_position<1>({&tensor.meta}, kNoAxis,
                         [&](const auto& at) { result[next++] = as_double(in[at[0]]); });
  });
  return result;
}

TensorMeta repeated_along(const TensorMeta& tensor, size_t axis, int64_t size) {
  TensorMeta m = tensor;
  m.shape.insert(axis, size);
  m.strides.insert(axis, 0);
  return m;
}

}  // namespace thalweg
