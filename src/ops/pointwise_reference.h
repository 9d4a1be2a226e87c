#pragma once

// Reference kernels of the point-wise functors: one element after the other, each dtype.

#include <cstring>

#include "ops/pointwise_loop.h"
#include "ops/scalar.h"

namespace thalweg {

// Plain loops are about this slow.
inline constexpr double kReferenceNs = 4;

template <typename T>
Scalar<ComputeType<T>> load_scalar(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return static_cast<ComputeType<T>>(value);
}

template <typename T, typename V>
void store_scalar(char* p, V result) {
  T value;
  if constexpr (std::is_same_v<V, bool>)
    value = static_cast<T>(result);
  else
    value = static_cast<T>(result.v);
  std::memcpy(p, &value, sizeof value);
}

/// Apply gives `static auto apply(v0, v1, ...)` over kInputs scalars.
template <typename Apply, typename In, typename Out, size_t kInputs>
void reference_row(const PointwiseRow& row) {
  for (int64_t i = 0; i < row.n; ++i) {
    const auto at = [&](size_t k) { return load_scalar<In>(row.in[k] + i * row.in_stride[k]); };
    char* out = row.out + i * row.out_stride;
    if constexpr (kInputs == 1)
      store_scalar<Out>(out, Apply::apply(at(0)));
    else if constexpr (kInputs == 2)
      store_scalar<Out>(out, Apply::apply(at(0), at(1)));
    else if constexpr (kInputs == 3)
      store_scalar<Out>(out, Apply::apply(at(0), at(1), at(2)));
    else
      store_scalar<Out>(out, Apply::apply(at(0), at(1), at(2), at(3)));
  }
}

enum class Classes { floating, real, any };

/// The kernel of Apply for the dtype of input 0; Result is bool for tests and comparisons, else
/// void for the inputs' dtype.
template <typename Apply, Classes kClasses, size_t kInputs, typename Result = void>
void reference_pointwise(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    constexpr bool boolean = std::is_same_v<T, bool>;
    if constexpr ((integer && kClasses == Classes::floating) ||
                  (boolean && kClasses != Classes::any)) {
      // Ruled out by the op's inference.
    } else {
      using Out = std::conditional_t<std::is_void_v<Result>, T, Result>;
      pointwise_loop(ctx, reference_row<Apply, T, Out, kInputs>, kReferenceNs);
    }
  });
}

}  // namespace thalweg
