#pragma once

#include <cstddef>

namespace thalweg::data {

/// Reverses the bytes of each item of `item_bytes`, 2, 4 or 8, in `size` bytes; in the widest SIMD
/// the machine has.
void swap_item_bytes(std::byte* bytes, size_t size, size_t item_bytes);

}  // namespace thalweg::data
