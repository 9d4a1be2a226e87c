#include "data/rows.h"

#include <cstring>

#include "base/fail.h"
#include "tensor/copy.h"

namespace thalweg::data {

Tensor row_major_on_host(const char* operation, const Tensor& tensor) {
  if (!tensor.defined()) fail_invalid("{}: a tensor without elements was given", operation);
  if (tensor.device().kind != DeviceKind::cpu) {
    fail_invalid("{}: tensor of shape {} is on {}; copy it with to(Device::cpu())", operation,
                 to_string(tensor.shape()), to_string(tensor.device()));
  }
  if (tensor.is_contiguous()) return tensor;
  Tensor copy = Tensor::empty(tensor.shape(), {.dtype = tensor.dtype()});
  copy_strided(*copy.impl(), *tensor.impl());
  return copy;
}

Tensor with_shape(const Tensor& tensor, const Shape& shape) {
  TensorMeta meta = tensor.meta();
  meta.shape = shape;
  meta.strides = row_major_strides(shape);
  THALWEG_ASSERT(tensor.is_contiguous() && meta.size() == tensor.size());
  return make_view(tensor, meta);
}

Tensor row_of(const Tensor& rows, int64_t i) {
  TensorMeta meta = rows.meta();
  meta.offset += i * meta.strides[0];
  meta.shape.erase(0);
  meta.strides.erase(0);
  return make_view(rows, meta);
}

void put_rows(const Tensor& rows, const Tensor& into, int64_t begin) {
  if (rows.size() == 0) return;
  const size_t bytes = static_cast<size_t>(rows.size()) * item_size(rows.dtype());
  const size_t row_bytes = bytes / static_cast<size_t>(rows.size(0));
  std::memcpy(into.impl()->as<std::byte>() + static_cast<size_t>(begin) * row_bytes,
              rows.impl()->data, bytes);
}

Shape batch_shape(size_t n, const Shape& sample) {
  Shape shape = sample;
  shape.insert(0, static_cast<int64_t>(n));
  return shape;
}

std::string describe(const std::vector<Field>& fields) {
  std::vector<std::string> parts;
  for (const Field& field : fields)
    parts.push_back(fmt::format("{} {} {}", field.name, name(field.dtype), to_string(field.shape)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace thalweg::data
