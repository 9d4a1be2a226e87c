#include "kernels/simd/half_row.h"

#include <algorithm>

#include "kernels/simd/strided_row.h"

namespace thalweg::simd {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kHalfBytes = 2;
constexpr int64_t kF32Bytes = 4;

using Widen = void (*)(const uint16_t*, float*, int64_t);
using Narrow = void (*)(const float*, uint16_t*, int64_t);

void load(Widen widen, const char* from, int64_t stride, float* to, int64_t n) {
  uint16_t gathered[kBlock];
  if (stride == kHalfBytes || n == 1) return widen(reinterpret_cast<const uint16_t*>(from), to, n);
  copy_strided(reinterpret_cast<char*>(gathered), kHalfBytes, from, stride, kHalfBytes, n);
  widen(gathered, to, n);
}

void store(Narrow narrow, const float* from, char* to, int64_t stride, int64_t n) {
  uint16_t gathered[kBlock];
  if (stride == kHalfBytes || n == 1) return narrow(from, reinterpret_cast<uint16_t*>(to), n);
  narrow(from, gathered, n);
  copy_strided(to, stride, reinterpret_cast<const char*>(gathered), kHalfBytes, kHalfBytes, n);
}

void run(const PointwiseRow& row, const HalfRow& half, Widen widen, Narrow narrow) {
  alignas(64) float in[kMaxPointwiseInputs][kBlock];
  alignas(64) float out[kBlock];
  PointwiseRow block = row;
  block.context = half.context;
  for (size_t k = 0; k < half.inputs; ++k) {
    block.in[k] = reinterpret_cast<const char*>(in[k]);
    block.in_stride[k] = row.in_stride[k] == 0 ? 0 : kF32Bytes;
    if (row.in_stride[k] == 0) load(widen, row.in[k], 0, in[k], 1);
  }
  for (int64_t i = 0; i < row.n; i += kBlock) {
    block.n = std::min(kBlock, row.n - i);
    for (size_t k = 0; k < half.inputs; ++k) {
      const int64_t stride = row.in_stride[k];
      if (stride != 0) load(widen, row.in[k] + i * stride, stride, in[k], block.n);
    }
    char* to = row.out + i * row.out_stride;
    if (half.bool_output) {
      block.out = to;
      half.f32(block);
    } else {
      block.out = reinterpret_cast<char*>(out);
      block.out_stride = kF32Bytes;
      half.f32(block);
      store(narrow, out, to, row.out_stride, block.n);
    }
  }
}

}  // namespace

void f16_row(const PointwiseRow& row) {
  const HalfRow& half = *static_cast<const HalfRow*>(row.context);
  run(row, half, half.convert->f32_from_f16, half.convert->f16_from_f32);
}

void bf16_row(const PointwiseRow& row) {
  const HalfRow& half = *static_cast<const HalfRow*>(row.context);
  run(row, half, half.convert->f32_from_bf16, half.convert->bf16_from_f32);
}

}  // namespace thalweg::simd
