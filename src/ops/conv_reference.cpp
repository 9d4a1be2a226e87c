// The reference kernels of the convolution family: one walk over all products of the three arrays.

#include "ops/conv_reference.h"

#include "ops/conv.h"
#include "ops/sums.h"

namespace thalweg {
namespace {

enum class Result { x, w, y };

// Positions of the three elements that one product is about.
struct Product {
  int64_t x, w, y;
};

// All products of one window, axis by axis: x at o * stride - padding + k * dilation.
template <int kAxis, typename F>
void for_each_tap(const ConvProblem& p, Product at, F&& f) {
  if constexpr (kAxis == 3) {
    f(at);
  } else {
    for (int64_t k = 0; k < p.kernel[kAxis]; ++k) {
      for (int64_t o = 0; o < p.out[kAxis]; ++o) {
        const int64_t i = o * p.stride[kAxis] - p.padding[kAxis] + k * p.dilation[kAxis];
        if (i < 0 || i >= p.in[kAxis]) continue;
        for_each_tap<kAxis + 1>(p,
                                {at.x + i * p.x.spatial[kAxis], at.w + k * p.w.spatial[kAxis],
                                 at.y + o * p.y.spatial[kAxis]},
                                f);
      }
    }
  }
}

template <typename F>
void for_each_product(const ConvProblem& p, F&& f) {
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t o = 0; o < p.groups * p.out_channels; ++o) {
      const int64_t first = o / p.out_channels * p.in_channels;  // channel of x
      for (int64_t c = 0; c < p.in_channels; ++c) {
        for_each_tap<0>(p,
                        {n * p.x.outer + (first + c) * p.x.channel, o * p.w.outer + c * p.w.channel,
                         n * p.y.outer + o * p.y.channel},
                        f);
      }
    }
  }
}

template <typename T, Result kResult>
void sum_products(const KernelContext& ctx, ConvProblem p, Scratch<double>& sums) {
  const T *a = ctx.in(0).as<T>(), *b = ctx.in(1).as<T>();
  if constexpr (kResult == Result::x) {
    p.x = row_major_strides(p.groups * p.in_channels, p.in);
    for_each_product(p, [&](Product at) { sums[at.x] += as_double(a[at.y]) * as_double(b[at.w]); });
  } else if constexpr (kResult == Result::w) {
    p.w = row_major_strides(p.in_channels, p.kernel);
    for_each_product(p, [&](Product at) { sums[at.w] += as_double(a[at.x]) * as_double(b[at.y]); });
  } else {
    p.y = row_major_strides(p.groups * p.out_channels, p.out);
    for_each_product(p, [&](Product at) { sums[at.y] += as_double(a[at.x]) * as_double(b[at.w]); });
  }
}

template <typename T>
void start_with_bias(const KernelContext& ctx, Scratch<double>& sums) {
  const Shape& shape = ctx.out().meta.shape;
  int64_t area = 1;
  for (size_t i = 2; i < shape.size(); ++i) area *= shape[i];
  const T* bias = ctx.in(2).as<T>();
  for (int64_t i = 0; i < sums.size(); ++i) {
    sums[i] = as_double(bias[i / area % shape[1] * ctx.in(2).meta.strides[0]]);
  }
}

template <Result kResult>
void reference(const KernelContext& ctx) {
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    Scratch<double> sums(ctx.out().meta.size(), 0);
    if (ctx.has(2)) start_with_bias<T>(ctx, sums);
    sum_products<T, kResult>(ctx, conv_problem(ctx), sums);
    store_sums<T>(ctx.out(), sums);
  });
}

}  // namespace

void reference_conv(const KernelContext& ctx) { reference<Result::y>(ctx); }
void reference_conv_transpose(const KernelContext& ctx) { reference<Result::x>(ctx); }
void reference_conv_weight_gradient(const KernelContext& ctx) { reference<Result::w>(ctx); }

}  // namespace thalweg
