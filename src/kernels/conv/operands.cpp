#include "kernels/conv/operands.h"

#include "ops/layout.h"
#include "tensor/copy.h"

namespace thalweg::conv {

bool is_even(const SpatialStrides& s, int64_t channels, const int64_t (&sizes)[3]) {
  return (channels == 1 || s.channel == 1) &&
         (sizes[1] == 1 || s.spatial[1] == sizes[2] * s.spatial[2]) &&
         (sizes[0] == 1 || s.spatial[0] == sizes[1] * sizes[2] * s.spatial[2]);
}

IntrusivePtr<TensorImpl> channels_last_copy(const TensorImpl& from) {
  IntrusivePtr<TensorImpl> copy = TensorImpl::create();
  copy->meta.dtype = from.meta.dtype;
  copy->meta.shape = from.meta.shape;
  copy->meta.strides = channels_last_strides(from.meta.shape);
  copy->allocate();
  copy_strided(*copy, from);
  return copy;
}

}  // namespace thalweg::conv
