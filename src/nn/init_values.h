#pragma once

// Element i of a random tensor as a function of the seed, and writing elements of any floating
// dtype.

#include <cstdint>

#include <thalweg/base/threads.h>
#include <thalweg/tensor/tensor.h>

#include "base/fail.h"

namespace thalweg::init {

/// Even in [0, 1).
double uniform_at(uint64_t seed, int64_t i);
/// Standard normal.
double normal_at(uint64_t seed, int64_t i);

/// out[i] = value(i) in row-major order, on all threads; `ns` is about what one value takes.
template <typename Value>
void set_elements(const Tensor& out, double ns, Value value) {
  visit_dtype(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_floating(dtype_of<T>)) {
      T* to = out.mutable_data<T>();
      parallel_ranges(out.size(), 4096, ns, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if constexpr (dtype_of<T> == DType::f64) {
            to[i] = value(i);
          } else {
            to[i] = T(static_cast<float>(value(i)));
          }
        }
      });
    } else {
      fail_invalid("initialize: parameter of dtype {} and shape {}; random values are floating",
                   name(out.dtype()), to_string(out.shape()));
    }
  });
}

}  // namespace thalweg::init
