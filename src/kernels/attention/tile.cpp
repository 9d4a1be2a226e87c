#include "kernels/attention/tile.h"

#include <limits>

#include <thalweg/base/threads.h>

#include "kernels/gemm/pack.h"

namespace thalweg::tiled {

Transposed::Transposed(const TensorImpl& x)
    : heads_(x.meta.shape[1]),
      rows_(x.meta.shape[2]),
      matrix_(x.meta.shape[2] * x.meta.shape[3]),
      values_(x.meta.size()) {
  const Heads from(x);
  const int64_t size = x.meta.shape[3];
  parallel_tiles(x.meta.shape[0] * heads_, static_cast<double>(matrix_) * 0.3, [&](int64_t i) {
    const float* matrix = from.at(i / heads_, i % heads_, 0);
    gemm::pack({matrix, 1, from.ld}, size, rows_, values_.data() + i * matrix_, rows_);
  });
}

void TileMask::apply(int64_t b, int64_t h, int64_t query, int64_t key, int64_t count, float scale,
                     float* scores) const {
  const int64_t first = b * strides_[0] + h * strides_[1] + query * strides_[2] + key * strides_[3];
  const int64_t step = strides_[3];
  if (mask_->meta.dtype == DType::boolean) {
    const bool* seen = mask_->as<bool>() + first;
    for (int64_t j = 0; j < count; ++j) {
      scores[j] = seen[j * step] ? scores[j] * scale : -std::numeric_limits<float>::infinity();
    }
  } else {
    const float* added = mask_->as<float>() + first;
    for (int64_t j = 0; j < count; ++j) scores[j] = scores[j] * scale + added[j * step];
  }
}

const char* refuse_heads(const TensorImpl& x) {
  const TensorMeta& m = x.meta;
  if (m.dtype != DType::f32) return "needs f32";
  if (m.size() == 0) return "an operand is empty";
  if (m.strides[3] != 1 && m.shape[3] != 1) return "elements of a head must be neighbours";
  const int64_t row = m.strides[2];
  if (m.shape[2] > 1 && (row < m.shape[3] || row > std::numeric_limits<int32_t>::max())) {
    return "rows of a head must follow each other";
  }
  return nullptr;
}

}  // namespace thalweg::tiled
