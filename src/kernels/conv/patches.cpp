#include "kernels/conv/patches.h"

#include <algorithm>
#include <cstring>

#include "kernels/conv/columns.h"
#include "kernels/gemm/pack.h"

namespace thalweg::conv {
namespace {

// Positions along an axis of x that `count` neighbouring results see.
int64_t extent(const ConvProblem& p, int axis, int64_t count) {
  return (count - 1) * p.stride[axis] + p.dilation[axis] * (p.kernel[axis] - 1) + 1;
}

}  // namespace

template <typename T>
Patches<T>::Patches(const ConvProblem& p, const T* x, const Blocks& blocks)
    : p_(p),
      x_(x),
      slab_rows_(extent(p, 1, blocks.most_rows())),
      slab_width_(extent(p, 2, blocks.most_columns())),
      joined_(p.dilation[2] == 1),
      runs_(p.kernel[0] * p.kernel[1] * (joined_ ? 1 : p.kernel[2])),
      offsets_(runs_),
      slab_(p.kernel[0] * slab_rows_ * slab_width_ * p.in_channels + int64_t{kSlack}),
      columns_(blocks.most_rows() * blocks.most_columns() * patch_size(p) + int64_t{kSlack}) {
  int64_t* offset = offsets_.data();
  const int64_t pixel = p.in_channels * static_cast<int64_t>(sizeof(T));
  for (int64_t d = 0; d < p.kernel[0]; ++d) {
    for (int64_t h = 0; h < p.kernel[1]; ++h) {
      const int64_t row = d * slab_rows_ + h * p.dilation[1];
      for (int64_t w = 0; w < (joined_ ? 1 : p.kernel[2]); ++w) {
        *offset++ = (row * slab_width_ + w * p.dilation[2]) * pixel;
      }
    }
  }
}

// A kernel of one tap needs no copy.
template <typename T>
bool Patches<T>::are_pixels() const {
  for (int axis = 0; axis < 3; ++axis) {
    if (p_.kernel[axis] != 1 || p_.stride[axis] != 1 || p_.padding[axis] != 0) return false;
  }
  return p_.in[1] == 1 || p_.x.spatial[1] == p_.in[2] * p_.x.spatial[2];
}

template <typename T>
gemm::Matrix<T> Patches<T>::make(int64_t image, int64_t group, const Block& block) {
  const T* x = x_ + image * p_.x.outer + group * p_.in_channels * p_.x.channel;
  if (are_pixels()) {
    const int64_t first = block.plane * p_.x.spatial[0] + block.row * p_.x.spatial[1] +
                          block.column * p_.x.spatial[2];
    return {x + first, p_.x.spatial[2], p_.x.channel};
  }
  fill_slab(x, block);
  const int64_t pixel = p_.in_channels * static_cast<int64_t>(sizeof(T));
  for (int64_t r = 0; r < block.rows; ++r) {
    const T* from = slab_.data() + r * p_.stride[1] * slab_width_ * p_.in_channels;
    copy_patches(
        reinterpret_cast<const std::byte*>(from), p_.stride[2] * pixel,
        {offsets_.data(), static_cast<size_t>(runs_)}, joined_ ? p_.kernel[2] * pixel : pixel,
        block.columns,
        reinterpret_cast<std::byte*>(columns_.data() + r * block.columns * patch_size(p_)));
  }
  return {columns_.data(), patch_size(p_), 1};
}

template <typename T>
void Patches<T>::fill_slab(const T* x, const Block& block) {
  const int64_t rows = extent(p_, 1, block.rows), width = extent(p_, 2, block.columns);
  const int64_t first = block.column * p_.stride[2] - p_.padding[2];
  for (int64_t k = 0; k < p_.kernel[0]; ++k) {
    const int64_t d = block.plane * p_.stride[0] - p_.padding[0] + k * p_.dilation[0];
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t h = block.row * p_.stride[1] - p_.padding[1] + r;
      T* to = slab_.data() + (k * slab_rows_ + r) * slab_width_ * p_.in_channels;
      if (d < 0 || d >= p_.in[0] || h < 0 || h >= p_.in[1])
        std::fill_n(to, width * p_.in_channels, T(0));
      else
        fill_row(x + d * p_.x.spatial[0] + h * p_.x.spatial[1], first, width, to);
    }
  }
}

template <typename T>
void Patches<T>::fill_row(const T* row, int64_t first, int64_t width, T* to) const {
  const int64_t channels = p_.in_channels;
  const int64_t begin = std::clamp<int64_t>(-first, 0, width);
  const int64_t end = std::clamp<int64_t>(p_.in[2] - first, begin, width);
  std::fill_n(to, begin * channels, T(0));
  std::fill_n(to + end * channels, (width - end) * channels, T(0));
  if (begin == end) return;
  const T* from = row + (first + begin) * p_.x.spatial[2];
  T* inside = to + begin * channels;
  const bool side_by_side = channels == 1 || p_.x.channel == 1;
  if (side_by_side && p_.x.spatial[2] == channels)
    std::memcpy(inside, from, static_cast<size_t>((end - begin) * channels) * sizeof(T));
  else
    gemm::pack(gemm::Matrix<T>{from, p_.x.spatial[2], channels == 1 ? 1 : p_.x.channel},
               end - begin, channels, inside, channels);
}

template class Patches<float>;
template class Patches<double>;

}  // namespace thalweg::conv
