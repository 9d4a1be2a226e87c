#include "kernels/simd/strided_row.h"

#include <algorithm>
#include <cstring>

namespace thalweg::simd {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kMaxItem = 8;

template <typename T>
void copy_items(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
  }
}

}  // namespace

void copy_strided(char* to, int64_t to_stride, const char* from, int64_t from_stride, size_t bytes,
                  int64_t n) {
  switch (bytes) {
    case 1:
      return copy_items<uint8_t>(to, to_stride, from, from_stride, n);
    case 2:
      return copy_items<uint16_t>(to, to_stride, from, from_stride, n);
    case 4:
      return copy_items<uint32_t>(to, to_stride, from, from_stride, n);
    default:
      return copy_items<uint64_t>(to, to_stride, from, from_stride, n);
  }
}

void fill_strided(char* to, int64_t to_stride, const void* element, size_t bytes, int64_t n) {
  const int64_t size = static_cast<int64_t>(bytes);
  if (to_stride != size) {
    return copy_strided(to, to_stride, static_cast<const char*>(element), 0, bytes, n);
  }
  // The first block is copied over the rest.
  const int64_t first = std::min<int64_t>(n, 512);
  copy_strided(to, size, static_cast<const char*>(element), 0, bytes, first);
  for (int64_t i = first; i < n; i += first) {
    std::memcpy(to + i * size, to, static_cast<size_t>(std::min(first, n - i) * size));
  }
}

void strided_row(const PointwiseRow& row, const RowItems& items, PointwiseRowFn plain) {
  alignas(64) char buffers[kMaxPointwiseInputs + 1][kBlock * kMaxItem];
  PointwiseRow block = row;
  const bool scatters = row.out_stride != items.out;
  if (scatters) {
    block.out = buffers[kMaxPointwiseInputs];
    block.out_stride = items.out;
  }
  bool gathers[kMaxPointwiseInputs] = {};
  for (size_t k = 0; k < items.inputs; ++k) {
    gathers[k] = row.in_stride[k] != items.in[k] && row.in_stride[k] != 0;
    if (gathers[k]) {
      block.in[k] = buffers[k];
      block.in_stride[k] = items.in[k];
    }
  }
  for (int64_t i = 0; i < row.n; i += kBlock) {
    block.n = std::min(kBlock, row.n - i);
    for (size_t k = 0; k < items.inputs; ++k) {
      const char* from = row.in[k] + i * row.in_stride[k];
      if (gathers[k])
        copy_strided(buffers[k], items.in[k], from, row.in_stride[k], items.in[k], block.n);
      else
        block.in[k] = from;
    }
    char* to = row.out + i * row.out_stride;
    if (!scatters) block.out = to;
    plain(block);
    if (scatters) copy_strided(to, row.out_stride, block.out, items.out, items.out, block.n);
  }
}

}  // namespace thalweg::simd
