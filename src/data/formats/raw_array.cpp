#include "data/formats/raw_array.h"

#include <algorithm>

#include "tensor/copy.h"

namespace thalweg::data {
namespace {

template <typename Bits>
void swap_all(std::byte* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i, bytes += sizeof(Bits)) store_le(load_be<Bits>(bytes), bytes);
}

}  // namespace

void swap_items(std::byte* bytes, size_t count, size_t item_bytes) {
  if (item_bytes == 2) swap_all<uint16_t>(bytes, count);
  if (item_bytes == 4) swap_all<uint32_t>(bytes, count);
  if (item_bytes == 8) swap_all<uint64_t>(bytes, count);
}

Tensor read_array(const RawArray& array) {
  Shape file_shape = array.shape;
  if (array.column_major) std::ranges::reverse(file_shape);
  Tensor tensor = Tensor::empty(file_shape, {.dtype = array.dtype});
  auto* bytes = tensor.impl()->as<std::byte>();
  array.source->read_at(array.offset, {bytes, array.bytes()});
  if (array.swapped) swap_items(bytes, static_cast<size_t>(tensor.size()), item_size(array.dtype));
  if (!array.column_major) return tensor;
  TensorMeta meta = tensor.meta();
  std::ranges::reverse(meta.shape);
  std::ranges::reverse(meta.strides);
  const Tensor view = make_view(tensor, meta);
  Tensor copy = Tensor::empty(array.shape, {.dtype = array.dtype});
  copy_strided(*copy.impl(), *view.impl());
  return copy;
}

}  // namespace thalweg::data
