#include <cmath>
#include <cstring>
#include <limits>

#include <thalweg/tensor/impl.h>
#include <thalweg/tensor/tensor.h>

#include "base/fail.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

Tensor make_row_major(const char* operation, const Shape& shape, TensorOptions options) {
  checked_element_count(operation, shape, item_size(options.dtype));
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  impl->meta.dtype = options.dtype;
  impl->meta.device = options.device;
  impl->meta.set_row_major(shape);
  impl->allocate();
  return Tensor(std::move(impl));
}

template <typename T>
bool holds(double value) {
  if constexpr (std::is_same_v<T, bool> || !std::is_integral_v<T>)
    return true;
  else {
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);  // one above the largest
    return value >= low && value < high && value == std::trunc(value);
  }
}

// One element of `dtype`, as bytes.
void encode(const char* operation, DType dtype, double value, void* out) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (!holds<T>(value)) {
      fail_invalid("{}: {} cannot be held by {}", operation, value, name(dtype));
    }
    T element;
    if constexpr (std::is_same_v<T, bool>)
      element = value != 0;
    else if constexpr (std::is_arithmetic_v<T>)
      element = static_cast<T>(value);
    else
      element = T(static_cast<float>(value));
    std::memcpy(out, &element, sizeof element);
  });
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, TensorOptions options) {
  return make_row_major("empty", shape, options);
}

Tensor Tensor::zeros(const Shape& shape, TensorOptions options) {
  Tensor result = make_row_major("zeros", shape, options);
  fill_bytes_zero(*result.impl());
  return result;
}

Tensor Tensor::ones(const Shape& shape, TensorOptions options) { return full(shape, 1, options); }

Tensor Tensor::full(const Shape& shape, double value, TensorOptions options) {
  Tensor result = make_row_major("full", shape, options);
  alignas(8) unsigned char element[8];
  encode("full", options.dtype, value, element);
  fill_elements(*result.impl(), element);
  return result;
}

Tensor Tensor::copy_from(const void* values, size_t count, DType dtype, Shape shape,
                         Device device) {
  if (shape.size() == 1 && shape[0] == -1) shape[0] = static_cast<int64_t>(count);
  Tensor result = make_row_major("Tensor::of", shape, {dtype, device});
  if (static_cast<size_t>(result.size()) != count) {
    fail_invalid("Tensor::of: {} values given for shape {}, which takes {}", count,
                 to_string(shape), result.size());
  }
  copy_bytes(device, result.impl()->data, Device::cpu(), values, count * item_size(dtype));
  return result;
}

int64_t Tensor::size(int64_t axis) const {
  return shape()[static_cast<size_t>(normalize_axis("size", axis, shape().size()))];
}

const void* Tensor::checked_data(DType wanted, const char* operation) const {
  const TensorMeta& m = meta();
  if (m.dtype != wanted) {
    fail_invalid("{}: elements of a {} tensor asked for as {}; convert with to(DType::{})",
                 operation, name(m.dtype), name(wanted), name(wanted));
  }
  if (m.device.kind != DeviceKind::cpu) {
    fail_invalid("{}: tensor of shape {} is on {}; copy it with to(Device::cpu())", operation,
                 to_string(m.shape), to_string(m.device));
  }
  if (!m.is_contiguous()) {
    fail_invalid("{}: tensor of shape {} has strides {}, not row-major; use contiguous()",
                 operation, to_string(m.shape), to_string(m.strides));
  }
  tell_host_access(*impl_, operation);
  return impl_->data;
}

void* Tensor::checked_mutable_data(DType wanted) const {
  const void* data = checked_data(wanted, "mutable_data");
  impl_->storage->bump_version();
  return const_cast<void*>(data);
}

Tensor Tensor::row_major_on_host(DType wanted) const {
  if (dtype() != wanted) checked_data(wanted, "to_vector");
  if (device().kind == DeviceKind::cpu && is_contiguous()) return *this;
  Tensor host = to_host(*this);
  if (host.is_contiguous()) return host;
  Tensor result = Tensor::empty(shape(), {dtype(), Device::cpu()});
  copy_strided(*result.impl(), *host.impl());
  return result;
}

double Tensor::item_as_double() const {
  if (size() != 1)
    fail_invalid("item: tensor of shape {} has {} elements, not 1", to_string(shape()), size());
  const Tensor host = to_host(*this);
  return visit_dtype(
      dtype(), [&](auto zero) { return static_cast<double>(*host.impl()->as<decltype(zero)>()); });
}

int64_t Tensor::item_as_int64() const {
  if (size() == 1 && dtype() == DType::i64) return *to_host(*this).impl()->as<int64_t>();
  const double value = item_as_double();
  if (!holds<int64_t>(value)) fail_invalid("item: {} is no 64-bit integer", value);
  return static_cast<int64_t>(value);
}

void Tensor::throw_undefined() {
  fail_invalid(
      "tensor: an undefined tensor, which a default-constructed Tensor is, has no shape "
      "and no elements; give it a value first");
}

void Tensor::throw_item_out_of_range(int64_t value, size_t bytes) const {
  fail_invalid("item: {} does not fit in an integer of {} bytes", value, bytes);
}

}  // namespace thalweg
