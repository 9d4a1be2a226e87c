#include "data/formats/raw_array.h"

#include <algorithm>

#include "data/formats/swap_simd.h"
#include "tensor/copy.h"

namespace thalweg::data {

void swap_items(std::byte* bytes, size_t count, size_t item_bytes) {
  if (item_bytes > 1) swap_item_bytes(bytes, count * item_bytes, item_bytes);
}

void read_items(const RawArray& array, uint64_t at, std::span<std::byte> into) {
  if (!array.swapped || item_size(array.dtype) == 1) {
    array.source->read_at(array.offset + at, into);
    return;
  }
  constexpr size_t kPiece = 256 * 1024;  // swapped while it is in the cache
  for (size_t done = 0; done < into.size(); done += kPiece) {
    const std::span piece = into.subspan(done, std::min(kPiece, into.size() - done));
    array.source->read_at(array.offset + at + done, piece);
    swap_items(piece.data(), piece.size() / item_size(array.dtype), item_size(array.dtype));
  }
}

Tensor read_array(const RawArray& array) {
  Shape file_shape = array.shape;
  if (array.column_major) std::ranges::reverse(file_shape);
  Tensor tensor = Tensor::empty(file_shape, {.dtype = array.dtype});
  auto* bytes = tensor.impl()->as<std::byte>();
  read_items(array, 0, {bytes, array.bytes()});
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
