#include <thalweg/base/threads.h>

#include "kernels/conv/columns_conv.h"
#include "kernels/conv/cost.h"
#include "kernels/conv/patches.h"
#include "kernels/conv/weights.h"

namespace thalweg::conv {

template <typename T>
void forward(const ConvProblem& p, const T* x, const T* w, const T* bias, T* y) {
  const int64_t size = patch_size(p);
  const Scratch<T> weights(p.groups * size * p.out_channels);
  for (int64_t g = 0; g < p.groups; ++g) {
    pack_taps_by_channels(p, w, g, weights.data() + g * size * p.out_channels);
  }
  const Blocks blocks(p, block_pixels(p));
  const int64_t per_image = p.groups * blocks.count();
  parallel_tiles(p.batch * per_image, block_ns(p, blocks), [&](int64_t tile) {
    const int64_t image = tile / per_image, group = tile / blocks.count() % p.groups;
    const Block block = blocks[tile % blocks.count()];
    Patches<T> patches(p, x, blocks);
    gemm::Product<T> product;
    product.m = block.pixels();
    product.n = p.out_channels;
    product.k = size;
    product.a = patches.make(image, group, block);
    product.b = {weights.data() + group * size * p.out_channels, p.out_channels, 1};
    product.c = y + image * p.y.outer + group * p.out_channels + first_pixel(p, block);
    product.c_row = p.y.spatial[2];
    if (bias) product.bias = bias + group * p.out_channels;
    gemm::multiply(product);
  });
}

template void forward(const ConvProblem&, const float*, const float*, const float*, float*);
template void forward(const ConvProblem&, const double*, const double*, const double*, double*);

}  // namespace thalweg::conv
