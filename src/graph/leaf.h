#pragma once

#include <thalweg/ops/row_gradient.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// The gradient of a leaf.
class Leaf final : public LeafGrad {
 public:
  Tensor grad;                 // undefined until first asked for or written
  RowGradient rows;            // in place of `grad`: the gradient, if some rows are all it has
  uint64_t last_backward = 0;  // the pass that wrote it last

  bool has_gradient() const { return grad.defined() || rows.defined(); }
  /// From now on the gradient is `grad`; `shape` is the leaf's.
  void make_dense(const Shape& shape);
  /// Replaces the gradient, or adds to it. Where somebody holds `grad`, it is what is written.
  void write_rows(RowGradient gradient, bool adds, const Shape& shape);
};

inline Leaf& leaf_of(const TensorImpl& tensor) { return static_cast<Leaf&>(*tensor.leaf); }

inline GradReq req_of(const TensorImpl& tensor) {
  return tensor.leaf ? tensor.leaf->req : GradReq::null;
}

}  // namespace thalweg
