#include "kernels/conv/winograd.h"

#include <algorithm>

#include <thalweg/base/threads.h>

#include "device/scratch.h"
#include "kernels/conv/weights.h"
#include "kernels/conv/winograd_loops.h"
#include "kernels/gemm/micro_kernel.h"

namespace thalweg::conv::winograd {
namespace {

// Tiles that are transformed and multiplied together: what they become stays in the second-level
// cache.
constexpr int64_t kTiles = 32;
// Sums of the weights' gradient that are made side by side.
constexpr int64_t kMostSums = 8;
constexpr int64_t kLine = 16;  // floats

// One of the two tensors of pixels.
struct Image {
  int64_t height, width, channels;
  int64_t outer, row, column;  // strides

  Image(const int64_t (&sizes)[3], int64_t n, const SpatialStrides& s)
      : height(sizes[1]),
        width(sizes[2]),
        channels(n),
        outer(s.outer),
        row(s.spatial[1]),
        column(s.spatial[2]) {}
};

// Where a tile lies: its image, and the first row and column of its results.
struct Place {
  int64_t image, row, column;
};

class Tiling {
 public:
  Tiling(int64_t batch, const Image& y)
      : rows_((y.height + kOut - 1) / kOut), columns_((y.width + kOut - 1) / kOut), batch_(batch) {}
  int64_t count() const { return batch_ * rows_ * columns_; }
  int64_t blocks() const { return (count() + kTiles - 1) / kTiles; }
  int64_t begin(int64_t block) const { return block * kTiles; }
  int64_t end(int64_t block) const { return std::min(begin(block) + kTiles, count()); }
  Place operator[](int64_t tile) const {
    return {tile / (rows_ * columns_), tile / columns_ % rows_ * kOut, tile % columns_ * kOut};
  }

 private:
  int64_t rows_, columns_, batch_;
};

// Pointers to size x size pixels from (row, column) on; `outside` for those that do not exist.
template <typename T>
void point(T* image, const Image& shape, int64_t row, int64_t column, int64_t size, T* outside,
           T** to) {
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      const int64_t r = row + i, c = column + j;
      const bool exists = r >= 0 && r < shape.height && c >= 0 && c < shape.width;
      *to++ = exists ? image + r * shape.row + c * shape.column : outside;
    }
  }
}

// The planes of a block of tiles: [36][kTiles][channels], and a cache line between planes, without
// which all 36 would meet in the same sets of the cache.
class BlockPlanes {
 public:
  explicit BlockPlanes(int64_t channels)
      : channels_(channels), step_(kTiles * channels + kLine), numbers_(kPlanes * step_) {}
  Planes tile(int64_t i) const { return {numbers_.data() + i * channels_, step_}; }
  float* plane(int64_t i) const { return numbers_.data() + i * step_; }

 private:
  int64_t channels_, step_;
  Scratch<float> numbers_;
};

double block_ns(int64_t in_channels, int64_t out_channels) {
  constexpr double kFlopsPerNs = 50, kTransformedPerNs = 4;
  const double products = static_cast<double>(kTiles * in_channels * out_channels);
  return kPlanes * (2 * products / kFlopsPerNs +
                    static_cast<double>(kTiles * (in_channels + out_channels)) / kTransformedPerNs);
}

void transform_block_of_x(const float* x, const Image& shape, const Tiling& tiling, int64_t block,
                          const int64_t (&padding)[3], const float* zeros, const BlockPlanes& to) {
  const float* pixels[kIn * kIn];
  for (int64_t tile = tiling.begin(block); tile < tiling.end(block); ++tile) {
    const Place place = tiling[tile];
    point(x + place.image * shape.outer, shape, place.row - padding[1], place.column - padding[2],
          kIn, zeros, pixels);
    transform_x(pixels, shape.channels, to.tile(tile - tiling.begin(block)));
  }
}

// y = x convolved with weights that are transformed: [36][x.channels][y.channels].
void convolve(int64_t batch, const float* x, const Image& in, const int64_t (&padding)[3],
              const float* weights, const float* bias, float* y, const Image& out) {
  const Tiling tiling(batch, out);
  const Scratch<float> zeros(in.channels, 0.0f);
  parallel_tiles(tiling.blocks(), block_ns(in.channels, out.channels), [&](int64_t block) {
    const BlockPlanes from(in.channels), to(out.channels);
    const Scratch<float> outside(out.channels);
    transform_block_of_x(x, in, tiling, block, padding, zeros.data(), from);
    const int64_t first = tiling.begin(block), tiles = tiling.end(block) - first;
    const gemm::MicroKernel<float> multiply({.m = static_cast<int32_t>(tiles),
                                             .n = static_cast<int32_t>(out.channels),
                                             .k = static_cast<int32_t>(in.channels),
                                             .lda = static_cast<int32_t>(in.channels),
                                             .ldb = static_cast<int32_t>(out.channels),
                                             .ldc = static_cast<int32_t>(out.channels),
                                             .a_transposed = false,
                                             .adds = false});
    for (int64_t i = 0; i < kPlanes; ++i) {
      multiply(from.plane(i), weights + i * in.channels * out.channels, to.plane(i));
    }
    float* pixels[kOut * kOut];
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const Place place = tiling[first + tile];
      point(y + place.image * out.outer, out, place.row, place.column, kOut, outside.data(),
            pixels);
      transform_to_y(to.tile(tile), out.channels, bias, pixels);
    }
  });
}

Image image_of_x(const ConvProblem& p) { return {p.in, p.in_channels, p.x}; }
Image image_of_y(const ConvProblem& p) { return {p.out, p.out_channels, p.y}; }

}  // namespace

const char* refuse(const ConvProblem& p) {
  if (p.in[0] != 1 || p.kernel[0] != 1 || p.kernel[1] != kTaps || p.kernel[2] != kTaps) {
    return "a window that is not 3 x 3";
  }
  if (p.groups != 1) return "groups";
  for (int axis = 0; axis < 3; ++axis) {
    if (p.stride[axis] != 1 || p.dilation[axis] != 1) return "a stride or dilation";
    if (p.padding[axis] >= p.kernel[axis]) return "a padding of the window's size";
  }
  if (p.in_channels % kChannels != 0 || p.out_channels % kChannels != 0) {
    return "channels that are no multiple of 16";
  }
  if (p.in_channels > INT16_MAX || p.out_channels > INT16_MAX) return "more than 32767 channels";
  if (p.x.channel != 1) return "channels that do not lie side by side";
  const auto covered = [](int64_t size) { return (size + kOut - 1) / kOut * kOut; };
  if (covered(p.out[1]) * covered(p.out[2]) * 2 > p.out[1] * p.out[2] * 3) {
    return "an image that fills the tiles of 4 x 4 badly";
  }
  return nullptr;
}

void forward(const ConvProblem& p, const float* x, const float* w, const float* bias, float* y) {
  const int64_t n = p.in_channels * p.out_channels, taps = kTaps * kTaps;
  const Scratch<float> packed(taps * n), weights(kPlanes * n);
  pack_taps_by_channels(p, w, 0, packed.data());
  for (int64_t c = 0; c < p.in_channels; ++c) {
    const float* from[kTaps * kTaps];
    for (int64_t t = 0; t < taps; ++t) from[t] = packed.data() + t * n + c * p.out_channels;
    transform_weights(from, p.out_channels, {weights.data() + c * p.out_channels, n});
  }
  convolve(p.batch, x, image_of_x(p), p.padding, weights.data(), bias, y, image_of_y(p));
}

// The same from y to x, with the weights turned by half a turn.
void transpose(const ConvProblem& p, const float* y, const float* w, const float* bias, float* x) {
  const int64_t n = p.in_channels * p.out_channels, taps = kTaps * kTaps;
  const Scratch<float> packed(taps * n), weights(kPlanes * n);
  pack_channels_by_taps(p, w, 0, packed.data());
  for (int64_t o = 0; o < p.out_channels; ++o) {
    const float* from[kTaps * kTaps];
    for (int64_t t = 0; t < taps; ++t) {
      from[taps - 1 - t] = packed.data() + (o * taps + t) * p.in_channels;
    }
    transform_weights(from, p.in_channels, {weights.data() + o * p.in_channels, n});
  }
  const int64_t padding[3] = {0, kTaps - 1 - p.padding[1], kTaps - 1 - p.padding[2]};
  convolve(p.batch, y, image_of_y(p), padding, weights.data(), bias, x, image_of_x(p));
}

void weight_gradient(const ConvProblem& p, const float* x, const float* y, float* w) {
  const int64_t n = p.in_channels * p.out_channels, taps = kTaps * kTaps;
  const Image in = image_of_x(p), out = image_of_y(p);
  const Tiling tiling(p.batch, out);
  const Scratch<float> zero_pixel(std::max(in.channels, out.channels), 0.0f);
  const float* zeros = zero_pixel.data();
  const int64_t blocks = tiling.blocks(), per_sum = (blocks + kMostSums - 1) / kMostSums;
  const int64_t sums = (blocks + per_sum - 1) / per_sum;
  const Scratch<float> gradients(sums * taps * n);
  const double ns = block_ns(in.channels, out.channels) * static_cast<double>(per_sum);
  parallel_tiles(sums, ns, [&](int64_t sum) {
    const BlockPlanes of_x(in.channels), of_y(out.channels);
    const Scratch<float> totals(kPlanes * n);
    const int64_t first = sum * per_sum, last = std::min(first + per_sum, blocks);
    for (int64_t block = first; block < last; ++block) {
      transform_block_of_x(x, in, tiling, block, p.padding, zeros, of_x);
      const int64_t begin = tiling.begin(block), tiles = tiling.end(block) - begin;
      const float* pixels[kOut * kOut];
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const Place place = tiling[begin + tile];
        point(y + place.image * out.outer, out, place.row, place.column, kOut, zeros, pixels);
        transform_y(pixels, out.channels, of_y.tile(tile));
      }
      const gemm::MicroKernel<float> multiply({.m = static_cast<int32_t>(out.channels),
                                               .n = static_cast<int32_t>(in.channels),
                                               .k = static_cast<int32_t>(tiles),
                                               .lda = static_cast<int32_t>(out.channels),
                                               .ldb = static_cast<int32_t>(in.channels),
                                               .ldc = static_cast<int32_t>(in.channels),
                                               .a_transposed = true,
                                               .adds = block > first});
      for (int64_t i = 0; i < kPlanes; ++i) {
        multiply(of_y.plane(i), of_x.plane(i), totals.data() + i * n);
      }
    }
    for (int64_t o = 0; o < out.channels; ++o) {
      float* to[kTaps * kTaps];
      for (int64_t t = 0; t < taps; ++t) {
        to[t] = gradients.data() + sum * taps * n + (o * taps + t) * in.channels;
      }
      transform_to_weights({totals.data() + o * in.channels, n}, in.channels, to);
    }
  });
  for (int64_t sum = 1; sum < sums; ++sum) {
    for (int64_t i = 0; i < taps * n; ++i)
      gradients.data()[i] += gradients.data()[sum * taps * n + i];
  }
  unpack_channels_by_taps(p, gradients.data(), 0, w);
}

}  // namespace thalweg::conv::winograd
