#pragma once

// The linear maps of F(4x4, 3x3) (Lavin and Gray 2016, https://arxiv.org/abs/1509.09308), over
// channels that lie side by side. A tile of a plane is 6 x 6 elements of x, or the 4 x 4 of y that
// they give; transformed, both are 36 numbers, and so are the 3 x 3 weights.

#include <cstdint>

namespace thalweg::conv::winograd {

inline constexpr int64_t kIn = 6, kOut = 4, kTaps = 3, kPlanes = kIn * kIn;
/// Numbers of channels are multiples of this.
inline constexpr int64_t kChannels = 16;

/// The 36 numbers of a tile: number i of channel c is at base[i * step + c].
struct Planes {
  float* base;
  int64_t step;
};

/// x, 36 pointers row by row, to planes.
void transform_x(const float* const* x, int64_t channels, const Planes& to);
/// Planes to y, 16 pointers; plus bias [channels], null for none.
void transform_to_y(const Planes& from, int64_t channels, const float* bias, float* const* y);
/// The gradient of y, 16 pointers, to planes: the transpose of transform_to_y.
void transform_y(const float* const* y, int64_t channels, const Planes& to);
/// Weights, 9 pointers, to planes.
void transform_weights(const float* const* w, int64_t channels, const Planes& to);
/// Planes to the gradient of the weights, 9 pointers: the transpose of transform_weights.
void transform_to_weights(const Planes& from, int64_t channels, float* const* w);

}  // namespace thalweg::conv::winograd
