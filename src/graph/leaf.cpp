#include "graph/leaf.h"

#include <thalweg/ops/pointwise.h>

#include "ops/row_gradient.h"

namespace thalweg {

void Leaf::make_dense(const Shape& shape) {
  if (!rows.defined()) return;
  grad = rows.to_dense(shape);
  rows = {};
}

void Leaf::write_rows(RowGradient gradient, bool adds, const Shape& shape) {
  if (adds && rows.defined()) {
    if (rows.axis == gradient.axis) {
      rows = sum_of(rows, gradient);
      return;
    }
    make_dense(shape);  // a weight shared by products along different axes
  }
  const bool is_held = grad.defined() && grad.impl()->use_count() > 1;
  if (!grad.defined() || !(adds || is_held)) {
    grad = Tensor();
    rows = std::move(gradient);
    return;
  }
  grad.impl()->segment.reset();
  if (!adds) grad.fill(0);
  if (grad.is_contiguous())
    add_slices(gradient, grad);
  else
    grad = grad + gradient.to_dense(shape);
}

}  // namespace thalweg
