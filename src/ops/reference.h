#pragma once

// What reference kernels share: walks over strided tensors, dtypes, scratch memory. Arithmetic is
// in f64, so that fast kernels have an exact yardstick.

#include <array>

#include <thalweg/ops/op.h>

#include "device/scratch.h"
#include "ops/scalar.h"

namespace thalweg {

/// visit_dtype for the floating dtypes; others are ruled out by the op's inference.
template <typename F>
void visit_floating(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto zero) {
    if constexpr (std::is_floating_point_v<ComputeType<decltype(zero)>>) f(zero);
  });
}

template <typename T>
double as_double(T value) {
  return static_cast<double>(static_cast<ComputeType<T>>(value));
}

/// The elements of a tensor of any strides and dtype, row-major.
Scratch<double> to_doubles(const TensorImpl& tensor);

inline constexpr size_t kNoAxis = ~size_t{0};

/// Calls f(positions) for every element of tensors of one shape, in row-major order: positions[k]
/// is the element's place in tensors[k]. `skip` is an axis that is not walked: then f is called
/// once per lane along it, with the place of the lane's first element.
template <size_t kTensors, typename F>
void for_each_position(const std::array<const TensorMeta*, kTensors>& tensors, size_t skip, F&& f) {
  const Shape& shape = tensors[0]->shape;
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d) count *= d == skip ? 1 : shape[d];
  std::array<int64_t, kTensors> at{};
  Dims index(shape.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    f(at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (d == skip) continue;
      const bool wraps = ++index[d] == shape[d];
      const int64_t steps = wraps ? 1 - shape[d] : 1;
      for (size_t k = 0; k < kTensors; ++k) at[k] += steps * tensors[k]->strides[d];
      if (!wraps) break;
      index[d] = 0;
    }
  }
}

/// A meta of shape `shape` over a tensor that lacks `axis`: every position along it is one element.
TensorMeta repeated_along(const TensorMeta& tensor, size_t axis, int64_t size);

/// An axis that an op's attributes name, counted from 0.
template <typename Context>
size_t axis_of(const Context& ctx, int64_t axis, size_t dims) {
  return static_cast<size_t>(normalize_axis(ctx.op().name, axis, dims));
}

}  // namespace thalweg
