#pragma once

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// The gradient of a leaf.
class Leaf final : public LeafGrad {
 public:
  Tensor grad;                 // undefined until first asked for or written
  uint64_t last_backward = 0;  // the pass that wrote it last
};

inline Leaf& leaf_of(const TensorImpl& tensor) { return static_cast<Leaf&>(*tensor.leaf); }

inline GradReq req_of(const TensorImpl& tensor) {
  return tensor.leaf ? tensor.leaf->req : GradReq::null;
}

}  // namespace thalweg
