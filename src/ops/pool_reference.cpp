// The reference kernels of pooling: one walk over all windows.

#include "ops/pool.h"
#include "ops/sums.h"

namespace thalweg {
namespace {

// The part of a window that lies in the input, and where its result goes.
struct Window {
  int64_t first[3], end[3];
  int64_t padded_size;  // with padding, but not beyond it
  int64_t x, y;         // positions of the channel's first element and of the result

  int64_t size() const { return (end[0] - first[0]) * (end[1] - first[1]) * (end[2] - first[2]); }
};

void set_axis(Window& w, const PoolProblem& p, int axis, int64_t o) {
  const int64_t start = o * p.stride[axis] - p.padding[axis];
  const int64_t end = std::min(start + p.kernel[axis], p.in[axis] + p.padding[axis]);
  w.padded_size *= end - start;
  w.first[axis] = std::max<int64_t>(start, 0);
  w.end[axis] = std::min(end, p.in[axis]);
}

template <typename F>
void for_each_window(const PoolProblem& p, F&& f) {
  for (int64_t channel = 0; channel < p.batch * p.channels; ++channel) {
    Window w;
    w.x = channel / p.channels * p.x.outer + channel % p.channels * p.x.channel;
    const int64_t y = channel / p.channels * p.y.outer + channel % p.channels * p.y.channel;
    for (int64_t d = 0; d < p.out[0]; ++d) {
      for (int64_t h = 0; h < p.out[1]; ++h) {
        for (int64_t o = 0; o < p.out[2]; ++o) {
          w.padded_size = 1;
          set_axis(w, p, 0, d);
          set_axis(w, p, 1, h);
          set_axis(w, p, 2, o);
          w.y = y + d * p.y.spatial[0] + h * p.y.spatial[1] + o * p.y.spatial[2];
          f(w);
        }
      }
    }
  }
}

// Calls f(position in x, index among the row-major spatial elements).
template <typename F>
void for_each_element(const PoolProblem& p, const Window& w, F&& f) {
  for (int64_t d = w.first[0]; d < w.end[0]; ++d) {
    for (int64_t h = w.first[1]; h < w.end[1]; ++h) {
      for (int64_t x = w.first[2]; x < w.end[2]; ++x) {
        f(w.x + d * p.x.spatial[0] + h * p.x.spatial[1] + x * p.x.spatial[2],
          (d * p.in[1] + h) * p.in[2] + x);
      }
    }
  }
}

int64_t divisor(const KernelContext& ctx, const Window& w) {
  return ctx.attrs<AvgPoolAttrs>().count_include_pad ? w.padded_size : w.size();
}

}  // namespace

void reference_max_pool(const KernelContext& ctx) {
  const PoolProblem p = pool_problem(ctx);
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    const T* in = ctx.in(0).as<T>();
    for_each_window(p, [&](const Window& w) {
      int64_t best = -1, best_index = -1;
      for_each_element(p, w, [&](int64_t at, int64_t index) {
        if (best >= 0) {
          const C value = static_cast<C>(in[at]), top = static_cast<C>(in[best]);
          const bool wins = value > top || (value != value && top == top);
          if (!wins) return;
        }
        best = at;
        best_index = index;
      });
      ctx.out(0).as<T>()[w.y] = in[best];
      ctx.out(1).as<int64_t>()[w.y] = best_index;
    });
  });
}

void reference_avg_pool(const KernelContext& ctx) {
  const PoolProblem p = pool_problem(ctx);
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = ctx.in(0).as<T>();
    for_each_window(p, [&](const Window& w) {
      double sum = 0;
      for_each_element(p, w, [&](int64_t at, int64_t) { sum += as_double(in[at]); });
      const double mean = sum / static_cast<double>(divisor(ctx, w));
      ctx.out().as<T>()[w.y] = static_cast<T>(static_cast<ComputeType<T>>(mean));
    });
  });
}

void reference_avg_pool_gradient(const KernelContext& ctx) {
  PoolProblem p = pool_problem(ctx);
  p.x = row_major_strides(p.channels, p.in);
  Scratch<double> sums(ctx.out().meta.size(), 0);
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* g = ctx.in(0).as<T>();
    for_each_window(p, [&](const Window& w) {
      const double share = as_double(g[w.y]) / static_cast<double>(divisor(ctx, w));
      for_each_element(p, w, [&](int64_t at, int64_t) { sums[at] += share; });
    });
    store_sums<T>(ctx.out(), sums);
  });
}

}  // namespace thalweg
