#pragma once

#include <cstdint>
#include <memory>

#include "kernels/onednn/engine.h"

namespace thalweg::onednn {

/// C [m, n] = A [m, k] B [k, n], plus bias [n]; strides in elements, C's columns side by side.
struct MatmulKey {
  int64_t dtype;
  int64_t has_bias;
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column, c_row;
};

struct MatmulPart {
  int64_t rows = 0;
  dnnl::primitive primitive;
  dnnl::memory::desc a, c, scratchpad;
};

/// How one problem runs: the rows in parts of fixed size.
struct MatmulPlan {
  const char* refusal = nullptr;  // why there is none
  MatmulPart part, rest;          // `rest` for the rows that are left
  dnnl::memory::desc b, bias;
};

/// From a cache, or newly made.
std::shared_ptr<const MatmulPlan> matmul_plan(const MatmulKey& key);

}  // namespace thalweg::onednn
