#pragma once

// Plain element movement, without tape or kernel choice, for room tensor itself and as the
// reference.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Every element of a row-major tensor becomes 0.
void fill_bytes_zero(const TensorImpl& out);
/// Every element of a row-major tensor becomes the `item_size` bytes at `element`.
void fill_elements(const TensorImpl& out, const void* element);
/// Copies elements between tensors of one shape and dtype on the cpu, any strides. Memory may not
/// overlap.
void copy_strided(const TensorImpl& out, const TensorImpl& in);
/// Tells the thread's HostObserver.
void tell_host_access(const TensorImpl& tensor, const char* operation);
/// The tensor itself when on the cpu; else a copy there, with the same strides.
Tensor to_host(const Tensor& tensor);

/// Calls f(out_position, in_position) for rows of the innermost dimension: positions in elements
/// from the first element of each tensor. f gets (out, in, count, out_stride, in_stride).
template <typename F>
void for_each_row(const TensorMeta& out, const TensorMeta& in, F&& f) {
  const size_t n = out.shape.size();
  if (out.size() == 0) return;
  if (n == 0) return f(int64_t{0}, int64_t{0}, int64_t{1}, int64_t{1}, int64_t{1});
  Dims position(n, 0);
  int64_t o = 0, i = 0;
  for (;;) {
    f(o, i, out.shape[n - 1], out.strides[n - 1], in.strides[n - 1]);
    size_t axis = n - 1;
    for (;;) {
      if (axis == 0) return;
      --axis;
      o += out.strides[axis];
      i += in.strides[axis];
      if (++position[axis] < out.shape[axis]) break;
      o -= out.strides[axis] * out.shape[axis];
      i -= in.strides[axis] * out.shape[axis];
      position[axis] = 0;
    }
  }
}

}  // namespace thalweg
