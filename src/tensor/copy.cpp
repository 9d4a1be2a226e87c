#include "tensor/copy.h"

#include <algorithm>
#include <cstring>

namespace thalweg {
namespace {

template <typename T>
void copy_typed(const TensorImpl& out, const TensorImpl& in) {
  T* to = out.as<T>();
  const T* from = in.as<T>();
  for_each_row(out.meta, in.meta, [&](int64_t o, int64_t i, int64_t n, int64_t so, int64_t si) {
    if (so == 1 && si == 1) {
      std::memcpy(to + o, from + i, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t k = 0; k < n; ++k) to[o + k * so] = from[i + k * si];
    }
  });
}

// Runs f with an unsigned integer of the item's size: copying does not look at the bits.
template <typename F>
void visit_item_size(DType dtype, F&& f) {
  switch (item_size(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

}  // namespace

void fill_bytes_zero(const TensorImpl& out) {
  if (out.meta.device.kind == DeviceKind::cpu) {
    if (out.storage->bytes()) std::memset(out.data, 0, out.storage->bytes());
    return;
  }
  const uint64_t zero = 0;
  fill_elements(out, &zero);
}

void fill_elements(const TensorImpl& out, const void* element) {
  const size_t count = static_cast<size_t>(out.meta.size());
  Tensor host;
  const TensorImpl* target = &out;
  if (out.meta.device.kind != DeviceKind::cpu) {
    host = Tensor::empty(out.meta.shape, {out.meta.dtype, Device::cpu()});
    target = host.impl();
  }
  visit_item_size(out.meta.dtype, [&](auto zero) {
    using U = decltype(zero);
    U value;
    std::memcpy(&value, element, sizeof value);
    std::fill_n(target->as<U>(), count, value);
  });
  if (target != &out) {
    copy_bytes(out.meta.device, out.data, Device::cpu(), target->data,
               count * item_size(out.meta.dtype));
  }
}

void copy_strided(const TensorImpl& out, const TensorImpl& in) {
  visit_item_size(out.meta.dtype, [&](auto zero) { copy_typed<decltype(zero)>(out, in); });
}

Tensor to_host(const Tensor& tensor) {
  const TensorImpl& in = *tensor.impl();
  if (in.meta.device.kind == DeviceKind::cpu) return tensor;
  // The whole block travels, so that strides stay as they are.
  IntrusivePtr<TensorImpl> out = TensorImpl::create();
  out->meta = in.meta;
  out->meta.device = Device::cpu();
  out->alias(Storage::allocate(Device::cpu(), in.storage->bytes()));
  copy_bytes(Device::cpu(), out->storage->data(), in.meta.device, in.storage->data(),
             in.storage->bytes());
  return Tensor(std::move(out));
}

}  // namespace thalweg
