#include "kernels/conv/winograd_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/winograd_loops.cpp"
// clang-format off
#include "kernels/simd/vector_arrays.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace thalweg::conv::winograd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kChannels>;
using V = hn::Vec<D>;

HWY_INLINE V times(float factor, V a) { return hn::Mul(hn::Set(D(), factor), a); }
HWY_INLINE V plus(V sum, float factor, V a) { return hn::MulAdd(hn::Set(D(), factor), a, sum); }

// Each of the maps along one axis: kFrom numbers to kTo.
struct MapX {
  static constexpr int kFrom = kIn, kTo = kIn;
  static HWY_INLINE void apply(const V (&d)[kFrom], V (&t)[kTo]) {
    const V even = plus(d[4], -4, d[2]), odd = plus(d[3], -4, d[1]);
    const V near = hn::Sub(d[4], d[2]), far = hn::Sub(d[3], d[1]);
    t[0] = plus(plus(d[4], 4, d[0]), -5, d[2]);
    t[1] = hn::Add(even, odd);
    t[2] = hn::Sub(even, odd);
    t[3] = plus(near, 2, far);
    t[4] = plus(near, -2, far);
    t[5] = plus(plus(d[5], 4, d[1]), -5, d[3]);
  }
};

struct MapToY {
  static constexpr int kFrom = kIn, kTo = kOut;
  static HWY_INLINE void apply(const V (&m)[kFrom], V (&y)[kTo]) {
    const V near = hn::Add(m[1], m[2]), near_odd = hn::Sub(m[1], m[2]);
    const V far = hn::Add(m[3], m[4]), far_odd = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(m[0], hn::Add(near, far));
    y[1] = plus(near_odd, 2, far_odd);
    y[2] = plus(near, 4, far);
    y[3] = hn::Add(m[5], plus(near_odd, 8, far_odd));
  }
};

struct MapY {
  static constexpr int kFrom = kOut, kTo = kIn;
  static HWY_INLINE void apply(const V (&y)[kFrom], V (&m)[kTo]) {
    const V near = hn::Add(y[0], y[2]), near_odd = hn::Add(y[1], y[3]);
    const V far = plus(y[0], 4, y[2]), far_odd = plus(times(2, y[1]), 8, y[3]);
    m[0] = y[0];
    m[1] = hn::Add(near, near_odd);
    m[2] = hn::Sub(near, near_odd);
    m[3] = hn::Add(far, far_odd);
    m[4] = hn::Sub(far, far_odd);
    m[5] = y[3];
  }
};

struct MapWeights {
  static constexpr int kFrom = kTaps, kTo = kIn;
  static HWY_INLINE void apply(const V (&g)[kFrom], V (&u)[kTo]) {
    const V near = times(-1.0f / 6, hn::Add(g[0], g[2])), near_odd = times(-1.0f / 6, g[1]);
    const V far = plus(times(1.0f / 24, g[0]), 1.0f / 6, g[2]), far_odd = times(1.0f / 12, g[1]);
    u[0] = times(1.0f / 4, g[0]);
    u[1] = hn::Add(near, near_odd);
    u[2] = hn::Sub(near, near_odd);
    u[3] = hn::Add(far, far_odd);
    u[4] = hn::Sub(far, far_odd);
    u[5] = g[2];
  }
};

struct MapToWeights {
  static constexpr int kFrom = kIn, kTo = kTaps;
  static HWY_INLINE void apply(const V (&u)[kFrom], V (&g)[kTo]) {
    const V near = times(-1.0f / 6, hn::Add(u[1], u[2])), far = hn::Add(u[3], u[4]);
    g[0] = plus(plus(near, 1.0f / 24, far), 1.0f / 4, u[0]);
    g[1] = plus(times(1.0f / 12, hn::Sub(u[3], u[4])), 1.0f / 6, hn::Sub(u[2], u[1]));
    g[2] = hn::Add(plus(near, 1.0f / 6, far), u[5]);
  }
};

// The map along both axes of kFrom x kFrom vectors: load(i) gives vector i, store(i, v) takes one.
template <typename Map, typename Load, typename Store>
HWY_INLINE void map_both(Load&& load, Store&& store) {
  constexpr int kFrom = Map::kFrom, kTo = Map::kTo;
  V half[kTo][kFrom];
  THALWEG_UNROLL
  for (int column = 0; column < kFrom; ++column) {
    V from[kFrom], to[kTo];
    THALWEG_UNROLL
    for (int i = 0; i < kFrom; ++i) from[i] = load(i * kFrom + column);
    Map::apply(from, to);
    THALWEG_UNROLL
    for (int i = 0; i < kTo; ++i) half[i][column] = to[i];
  }
  THALWEG_UNROLL
  for (int row = 0; row < kTo; ++row) {
    V to[kTo];
    Map::apply(half[row], to);
    THALWEG_UNROLL
    for (int i = 0; i < kTo; ++i) store(row * kTo + i, to[i]);
  }
}

template <typename Map>
void to_planes(const float* const* from, int64_t channels, const Planes& to) {
  const D d;
  for (int64_t c = 0; c < channels; c += static_cast<int64_t>(hn::Lanes(d))) {
    map_both<Map>([&](int i) { return hn::LoadU(d, from[i] + c); },
                  [&](int i, V v) { hn::StoreU(v, d, to.base + i * to.step + c); });
  }
}

template <typename Map, typename Finish>
HWY_INLINE void from_planes(const Planes& from, int64_t channels, float* const* to,
                            Finish&& finish) {
  const D d;
  for (int64_t c = 0; c < channels; c += static_cast<int64_t>(hn::Lanes(d))) {
    map_both<Map>([&](int i) { return hn::LoadU(d, from.base + i * from.step + c); },
                  [&](int i, V v) { hn::StoreU(finish(v, c), d, to[i] + c); });
  }
}

void transform_x_impl(const float* const* x, int64_t channels, const Planes& to) {
  to_planes<MapX>(x, channels, to);
}
void transform_y_impl(const float* const* y, int64_t channels, const Planes& to) {
  to_planes<MapY>(y, channels, to);
}
void transform_weights_impl(const float* const* w, int64_t channels, const Planes& to) {
  to_planes<MapWeights>(w, channels, to);
}
void transform_to_y_impl(const Planes& from, int64_t channels, const float* bias, float* const* y) {
  if (bias) {
    from_planes<MapToY>(from, channels, y,
                        [&](V v, int64_t c) { return hn::Add(v, hn::LoadU(D(), bias + c)); });
  } else {
    from_planes<MapToY>(from, channels, y, [](V v, int64_t) { return v; });
  }
}
void transform_to_weights_impl(const Planes& from, int64_t channels, float* const* w) {
  from_planes<MapToWeights>(from, channels, w, [](V v, int64_t) { return v; });
}

}  // namespace
}  // namespace thalweg::conv::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::conv::winograd {

HWY_EXPORT(transform_x_impl);
HWY_EXPORT(transform_y_impl);
HWY_EXPORT(transform_weights_impl);
HWY_EXPORT(transform_to_y_impl);
HWY_EXPORT(transform_to_weights_impl);

void transform_x(const float* const* x, int64_t channels, const Planes& to) {
  HWY_DYNAMIC_DISPATCH(transform_x_impl)(x, channels, to);
}
void transform_y(const float* const* y, int64_t channels, const Planes& to) {
  HWY_DYNAMIC_DISPATCH(transform_y_impl)(y, channels, to);
}
void transform_weights(const float* const* w, int64_t channels, const Planes& to) {
  HWY_DYNAMIC_DISPATCH(transform_weights_impl)(w, channels, to);
}
void transform_to_y(const Planes& from, int64_t channels, const float* bias, float* const* y) {
  HWY_DYNAMIC_DISPATCH(transform_to_y_impl)(from, channels, bias, y);
}
void transform_to_weights(const Planes& from, int64_t channels, float* const* w) {
  HWY_DYNAMIC_DISPATCH(transform_to_weights_impl)(from, channels, w);
}

}  // namespace thalweg::conv::winograd
#endif
