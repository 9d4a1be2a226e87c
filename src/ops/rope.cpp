#include <cmath>

#include <thalweg/ops/call.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/attention.h"
#include "ops/infer.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

void infer_rope(const InferContext& ctx) {
  require_floating(ctx, 0);
  const Shape& x = ctx.in(0).shape;
  if (x.size() < 2 || x.back() % 2 != 0) {
    fail_invalid("rope: x {}; expected [..., T, D] with an even D", to_string(x));
  }
  infer_like_input(ctx);
}

// Cosines and sines of the angles: [T, D / 2] of both.
struct Turns {
  int64_t half;
  Scratch<double> values;

  Turns(int64_t rows, int64_t half_size, const RopeAttrs& a)
      : half(half_size), values(2 * rows * half_size) {
    for (int64_t i = 0; i < half; ++i) {
      const double rate = std::pow(a.base, -static_cast<double>(i) / static_cast<double>(half));
      for (int64_t t = 0; t < rows; ++t) {
        const double angle = static_cast<double>(a.offset + t) * rate;
        values[2 * (t * half + i)] = std::cos(angle);
        values[2 * (t * half + i) + 1] = a.inverse ? -std::sin(angle) : std::sin(angle);
      }
    }
  }
  const double* at(int64_t t) const { return values.data() + 2 * t * half; }
};

void reference_rope(const KernelContext& ctx) {
  const auto& a = ctx.attrs<RopeAttrs>();
  const TensorMeta &x = ctx.in(0).meta, &y = ctx.out().meta;
  const size_t last = x.shape.size() - 1;
  const int64_t rows = x.shape[last - 1], half = x.shape[last] / 2;
  if (x.size() == 0) return;
  const Turns turns(rows, half, a);
  const bool halves = a.pairs == RopePairs::halves;
  const int64_t step = halves ? 1 : 2, distance = halves ? half : 1;
  int64_t row = 0;
  visit_floating(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_position<2>({&x, &y}, last, [&](const auto& at) {
      const double* turn = turns.at(row++ % rows);
      const T* in = ctx.in(0).as<T>() + at[0];
      T* out = ctx.out().as<T>() + at[1];
      for (int64_t i = 0; i < half; ++i, turn += 2) {
        const int64_t first = i * step, second = first + distance;
        const double u = as_double(in[first * x.strides[last]]);
        const double v = as_double(in[second * x.strides[last]]);
        out[first * y.strides[last]] = static_cast<T>(u * turn[0] - v * turn[1]);
        out[second * y.strides[last]] = static_cast<T>(u * turn[1] + v * turn[0]);
      }
    });
  });
}

extern const Op kRope;

// The transpose of a turn is the turn back.
void vjp_rope(VjpContext& ctx) {
  RopeAttrs back = ctx.attrs<RopeAttrs>();
  back.inverse = !back.inverse;
  ctx.set(0, call(kRope, back, ctx.grad()));
}

void sample_rope(Samples& s) {
  s.add({s.spread({3, 4})}, RopeAttrs{});
  s.add({s.spread({2, 2, 3, 6})}, RopeAttrs{RopePairs::neighbours, 5, 100});
  s.add({transpose(s.spread({2, 3}))}, RopeAttrs{RopePairs::halves, -2, 10, true});
  s.add({s.spread({2, 0, 4})}, RopeAttrs{});
}

const Op kRope{.name = "rope",
               .doc = "Pairs of the last axis turned by angles that grow along the axis before.",
               .inputs = "x",
               .attrs = attr_info<RopeAttrs>,
               .infer = infer_rope,
               .vjp = vjp_rope,
               .reference = reference_rope,
               .samples = sample_rope};

}  // namespace

Tensor rope(const Tensor& x, const RopeOptions& options) {
  if (!(options.base > 0)) fail_invalid("rope: base is {}; it must be positive", options.base);
  return call(kRope, RopeAttrs{options.pairs, options.offset, options.base}, x);
}

std::span<const Op* const> rope_rows() {
  static constexpr const Op* rows[] = {&kRope};
  return rows;
}

}  // namespace thalweg
