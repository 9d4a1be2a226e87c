#pragma once

#include <thalweg/ops/op.h>

namespace thalweg {

struct TakeAttrs {
  int64_t axis = 0;
  bool from_end = true;
  int64_t size = 0;
  bool sparse_grad = false;
  static auto fields() {
    return std::tuple{
        attr("axis", &TakeAttrs::axis, "the axis that is indexed"),
        attr("from_end", &TakeAttrs::from_end, "negative indices count from the end"),
        attr("size", &TakeAttrs::size, "size of the axis in the result, where no input tells it"),
        attr("sparse_grad", &TakeAttrs::sparse_grad,
             "the gradient of x, if that is a leaf, has the slices that were taken alone")};
  }
};

void reference_take(const KernelContext& ctx);
void reference_take_gradient(const KernelContext& ctx);
void reference_gather(const KernelContext& ctx);
void reference_scatter_add(const KernelContext& ctx);
void reference_one_hot(const KernelContext& ctx);

}  // namespace thalweg
