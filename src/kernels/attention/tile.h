#pragma once

// Tiles of attention in f32: some queries by some keys, whose scores lie on the stack.

#include <algorithm>

#include "device/scratch.h"
#include "kernels/attention/rows.h"
#include "kernels/gemm/micro_kernel.h"
#include "ops/attention.h"

namespace thalweg::tiled {

inline constexpr double kFlopsPerNs = 50;

/// A [B, H, T, D] operand with neighbours along D.
struct Heads {
  float* data;
  int64_t batch, head, row;
  int32_t ld;  // of a matrix [T, D]

  explicit Heads(const TensorImpl& x)
      : data(x.as<float>()),
        batch(x.meta.strides[0]),
        head(x.meta.strides[1]),
        row(x.meta.strides[2]),
        ld(static_cast<int32_t>(std::max(row, x.meta.shape[3]))) {}
  float* at(int64_t b, int64_t h, int64_t t) const { return data + b * batch + h * head + t * row; }
  RowsOf rows(int64_t b, int64_t h, int64_t t, int64_t size) const {
    return {at(b, h, t), row, size};
  }
};

/// Those of queries [first, first + rows) that see keys [key, key + count).
inline TileRows tile_rows(const AttentionSizes& n, int64_t first, int64_t rows, int64_t key,
                          int64_t count) {
  TileRows tile{rows, count, {}};
  for (int64_t i = 0; i < rows; ++i)
    tile.seen[i] = std::clamp<int64_t>(n.visible(first + i) - key, 0, count);
  return tile;
}

/// The transposes [D, T] of all matrices of k or v: what a product with queries reads.
class Transposed {
 public:
  explicit Transposed(const TensorImpl& x);
  const float* at(int64_t b, int64_t h) const {
    return values_.data() + (b * heads_ + h) * matrix_;
  }
  int32_t ld() const { return static_cast<int32_t>(rows_); }

 private:
  int64_t heads_, rows_, matrix_;
  Scratch<float> values_;
};

/// The mask of a call, added to tiles.
class TileMask {
 public:
  explicit TileMask(const TensorImpl* mask) : mask_(mask) {
    if (mask) strides_ = mask_strides(mask->meta);
  }
  explicit operator bool() const { return mask_ != nullptr; }
  /// scores[j] = scale * scores[j] + mask, for keys j from `key` on.
  void apply(int64_t b, int64_t h, int64_t query, int64_t key, int64_t count, float scale,
             float* scores) const;

 private:
  const TensorImpl* mask_;
  std::array<int64_t, 4> strides_{};
};

/// C [m, n] (+)= A B by the compiled product for that shape.
inline void multiply(const gemm::MicroShape& shape, const float* a, const float* b, float* c) {
  gemm::MicroKernel<float> kernel(shape);
  kernel(a, b, c);
}

/// Why these operands cannot be read as Heads, or null.
const char* refuse_heads(const TensorImpl& x);

void forward(const KernelContext& ctx);
void backward(const KernelContext& ctx);

}  // namespace thalweg::tiled
