#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <thalweg/tensor/tensor.h>

#include "data/formats/byte_source.h"

namespace thalweg::data {

/// An array whose elements lie in a file one after the other.
struct RawArray {
  std::shared_ptr<const ByteSource> source;
  std::string name;     // what errors blame
  uint64_t offset = 0;  // of the first element
  DType dtype = DType::f32;
  Shape shape;
  bool swapped = false;       // highest byte first
  bool column_major = false;  // the first axis runs fastest

  uint64_t bytes() const { return static_cast<uint64_t>(element_count(shape)) * item_size(dtype); }
};

/// Between the file's order of bytes and that of this machine.
void swap_items(std::byte* bytes, size_t count, size_t item_bytes);

/// Reads elements, in this machine's order of bytes, from the byte `at` of them on.
void read_items(const RawArray& array, uint64_t at, std::span<std::byte> into);

/// All of it in memory, row-major.
Tensor read_array(const RawArray& array);

}  // namespace thalweg::data
