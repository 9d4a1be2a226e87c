#pragma once

#include <thalweg/device/memory.h>

#include "device/scratch.h"
#include "kernels/conv/blocks.h"
#include "kernels/gemm/product.h"
#include "ops/conv.h"

namespace thalweg::conv {

/// Elements that one result pixel of one group is made from: all taps of the kernel, the channels
/// innermost.
inline int64_t patch_size(const ConvProblem& p) {
  return p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels;
}

/// The patches of the pixels of a block, as the rows of a matrix [pixels, patch_size]. They are
/// copied by way of a slab: the part of the image they come from, with its padding. One thread's.
template <typename T>
class Patches {
 public:
  /// `x` is the first element of the problem's x, whatever its strides.
  Patches(const ConvProblem& p, const T* x, const Blocks& blocks);
  /// Valid until the next call.
  gemm::Matrix<T> make(int64_t image, int64_t group, const Block& block);

 private:
  bool are_pixels() const;
  void fill_slab(const T* x, const Block& block);
  void fill_row(const T* row, int64_t first, int64_t width, T* to) const;

  const ConvProblem& p_;
  const T* x_;
  int64_t slab_rows_, slab_width_;  // of one plane per tap of the first axis
  bool joined_;                     // the taps of a row are one run
  int64_t runs_;
  Scratch<int64_t> offsets_;
  Scratch<T> slab_, columns_;
};

}  // namespace thalweg::conv
