#pragma once

#include <cstdint>
#include <memory>

#include "kernels/onednn/engine.h"
#include "ops/conv.h"

namespace thalweg::onednn {

enum class ConvPass : int64_t { forward, data, weights };

struct ConvKey {
  ConvPass pass;
  int64_t dtype;
  int64_t has_bias;
  ConvProblem problem;
};

/// A primitive for a fixed number of images.
struct ConvPart {
  int64_t images = 0;
  dnnl::primitive primitive;
  dnnl::memory::desc x, w, y, scratchpad;
};

/// How one problem runs: the batch in parts of fixed size, and the weights in oneDNN's own order,
/// from or to which `reorder` brings them.
struct ConvPlan {
  const char* refusal = nullptr;  // why there is none
  ConvPart part, rest;            // `rest` for the images that are left
  dnnl::memory::desc bias, plain_w, reorder_scratchpad;
  dnnl::primitive reorder;
};

/// From a cache, or newly made.
std::shared_ptr<const ConvPlan> conv_plan(const ConvKey& key);

}  // namespace thalweg::onednn
