#include <algorithm>

#include <thalweg/base/threads.h>

#include "kernels/conv/columns_conv.h"
#include "kernels/conv/cost.h"
#include "kernels/conv/patches.h"
#include "kernels/conv/weights.h"

namespace thalweg::conv {
namespace {

// Partial sums over fixed runs of images are added in order, whatever the threads: as many as keep
// some threads busy, if the memory for them is little.
int64_t chunk_count(const ConvProblem& p) {
  constexpr int64_t kMost = 8, kElements = 4 << 20;
  const int64_t size = p.groups * p.out_channels * patch_size(p);
  return std::clamp<int64_t>(std::min(p.batch, kElements / std::max<int64_t>(size, 1)), 1, kMost);
}

// Of the images [begin, end) and one group, into sums [out_channels, patch_size].
template <typename T>
void sum_images(const ConvProblem& p, const T* x, const T* y, int64_t begin, int64_t end,
                int64_t group, T* sums) {
  const Blocks blocks(p, block_pixels(p));
  Patches<T> patches(p, x, blocks);
  gemm::Product<T> product;
  product.m = p.out_channels;
  product.n = patch_size(p);
  product.c = sums;
  product.c_row = product.n;
  for (int64_t image = begin; image < end; ++image) {
    for (int64_t i = 0; i < blocks.count(); ++i) {
      const Block block = blocks[i];
      product.k = block.pixels();
      const T* first = y + image * p.y.outer + group * p.out_channels + first_pixel(p, block);
      product.a = {first, 1, p.y.spatial[2]};
      product.b = patches.make(image, group, block);
      gemm::multiply(product);
      product.adds = true;
    }
  }
}

}  // namespace

template <typename T>
void weight_gradient(const ConvProblem& p, const T* x, const T* y, T* w) {
  const int64_t size = p.out_channels * patch_size(p), chunks = chunk_count(p);
  const Scratch<T> sums(chunks * p.groups * size);
  const Blocks blocks(p, block_pixels(p));
  const double ns = block_ns(p, blocks) * static_cast<double>(blocks.count() * p.batch / chunks);
  parallel_tiles(chunks * p.groups, ns, [&](int64_t tile) {
    const int64_t chunk = tile / p.groups, group = tile % p.groups;
    T* to = sums.data() + tile * size;
    if (p.batch * blocks.count() == 0) std::fill_n(to, size, T(0));
    sum_images(p, x, y, p.batch * chunk / chunks, p.batch * (chunk + 1) / chunks, group, to);
  });
  for (int64_t group = 0; group < p.groups; ++group) {
    T* total = sums.data() + group * size;
    for (int64_t chunk = 1; chunk < chunks; ++chunk) {
      const T* part = total + chunk * p.groups * size;
      for (int64_t i = 0; i < size; ++i) total[i] += part[i];
    }
    unpack_channels_by_taps(p, total, group, w);
  }
}

template void weight_gradient(const ConvProblem&, const float*, const float*, float*);
template void weight_gradient(const ConvProblem&, const double*, const double*, double*);

}  // namespace thalweg::conv
