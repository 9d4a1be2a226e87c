#include "kernels/conv/weights.h"

#include <algorithm>

#include "kernels/gemm/pack.h"

namespace thalweg::conv {
namespace {

int64_t taps(const ConvProblem& p) { return p.kernel[0] * p.kernel[1] * p.kernel[2]; }

// Taps lie side by side, as in a row-major tensor.
bool are_taps_joined(const ConvProblem& p) {
  return (p.kernel[2] == 1 || p.w.spatial[2] == 1) &&
         (p.kernel[1] == 1 || p.w.spatial[1] == p.kernel[2]) &&
         (p.kernel[0] == 1 || p.w.spatial[0] == p.kernel[1] * p.kernel[2]);
}

// Calls f(tap, position in w of its first element).
template <typename F>
void for_each_tap(const ConvProblem& p, F&& f) {
  int64_t tap = 0;
  for (int64_t d = 0; d < p.kernel[0]; ++d) {
    for (int64_t h = 0; h < p.kernel[1]; ++h) {
      for (int64_t w = 0; w < p.kernel[2]; ++w) {
        f(tap++, d * p.w.spatial[0] + h * p.w.spatial[1] + w * p.w.spatial[2]);
      }
    }
  }
}

}  // namespace

template <typename T>
void pack_channels_by_taps(const ConvProblem& p, const T* w, int64_t group, T* to) {
  const int64_t n_taps = taps(p), channels = p.in_channels;
  w += group * p.out_channels * p.w.outer;
  for (int64_t o = 0; o < p.out_channels; ++o, w += p.w.outer, to += n_taps * channels) {
    if (are_taps_joined(p)) {
      gemm::pack(gemm::Matrix<T>{w, 1, p.w.channel}, n_taps, channels, to, channels);
      continue;
    }
    for_each_tap(p, [&](int64_t tap, int64_t at) {
      for (int64_t c = 0; c < channels; ++c) to[tap * channels + c] = w[at + c * p.w.channel];
    });
  }
}

template <typename T>
void pack_taps_by_channels(const ConvProblem& p, const T* w, int64_t group, T* to) {
  const int64_t size = patch_size(p);
  const Scratch<T> by_channel(p.out_channels * size);
  pack_channels_by_taps(p, w, group, by_channel.data());
  gemm::pack(gemm::Matrix<T>{by_channel.data(), 1, size}, size, p.out_channels, to, p.out_channels);
}

template <typename T>
void unpack_channels_by_taps(const ConvProblem& p, const T* from, int64_t group, T* w) {
  const int64_t n_taps = taps(p), channels = p.in_channels;
  w += group * p.out_channels * p.w.outer;
  for (int64_t o = 0; o < p.out_channels; ++o, w += p.w.outer, from += n_taps * channels) {
    if (are_taps_joined(p) && p.w.channel == n_taps) {
      gemm::pack(gemm::Matrix<T>{from, 1, channels}, channels, n_taps, w, n_taps);
      continue;
    }
    for_each_tap(p, [&](int64_t tap, int64_t at) {
      for (int64_t c = 0; c < channels; ++c) w[at + c * p.w.channel] = from[tap * channels + c];
    });
  }
}

#define THALWEG_INSTANTIATE(T)                                                    \
  template void pack_taps_by_channels(const ConvProblem&, const T*, int64_t, T*); \
  template void pack_channels_by_taps(const ConvProblem&, const T*, int64_t, T*); \
  template void unpack_channels_by_taps(const ConvProblem&, const T*, int64_t, T*);
THALWEG_INSTANTIATE(float)
THALWEG_INSTANTIATE(double)
#undef THALWEG_INSTANTIATE

}  // namespace thalweg::conv
