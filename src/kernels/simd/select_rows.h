#pragma once

// The SIMD rows of where, clip and cast, for the chosen target.

#include <thalweg/tensor/dtype.h>

#include "ops/pointwise_loop.h"

namespace thalweg::simd {

struct SelectTable {
  PointwiseRowFn clip_f32 = nullptr;  // context: ClipAttrs
  PointwiseRowFn clip_f64 = nullptr;
  PointwiseRowFn where[4] = {};                // elements of 1, 2, 4, 8 bytes
  PointwiseRowFn cast[kDTypes][kDTypes] = {};  // [from][to]; null: no loop of ours
};

void fill_select(SelectTable& table);
void fill_cast(SelectTable& table);

}  // namespace thalweg::simd
